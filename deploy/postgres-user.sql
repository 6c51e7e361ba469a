-- The container of compose.yaml runs this once, on its empty database: the server's user creates and uses one schema, and no more.
\getenv password POSTGRES_PASSWORD
CREATE ROLE stats LOGIN PASSWORD :'password';
GRANT CREATE ON DATABASE stats TO stats;
-- The image gives the password to its superuser, too. Without one, it gets in from inside the container only.
ALTER ROLE postgres PASSWORD NULL;
