"""The registry's API over HTTP: routes, authentication, errors, OpenAPI. What a route does lives outside."""
