"""The untrusted half: processes that run what a model wrote. They import the standard library, apsw and each other."""
