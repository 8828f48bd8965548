"""Agents that are a program or a function of somebody's: started, waited for, ended. Nothing here judges."""
