-- The container of compose.yaml runs this once, on its empty database: the server's user may create and use one schema only.
\getenv password POSTGRES_PASSWORD
CREATE ROLE stats LOGIN PASSWORD :'password';
GRANT CREATE ON DATABASE stats TO stats;
-- The image gives the password to its superuser, too. Without one, it gets in from inside the container only.
ALTER ROLE postgres PASSWORD NULL;
