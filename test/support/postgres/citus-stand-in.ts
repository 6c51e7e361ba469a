/**
 * No Citus cluster can be had from npm, so an extension of the same name stands in for it: its functions note how they were
 * called, and nothing is spread.
 */
import { onDatabase } from '../storage/store.js';

/** Its files, for `startPostgres`. */
export const standIn = {
  'citus.control': "default_version = '1.0'\nrelocatable = false\nschema = public\n",
  'citus--1.0.sql': `
    CREATE TABLE call (number serial, function text, name text, argument text, colocate_with text);
    CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod char);
    CREATE TABLE pg_dist_node (groupid integer);
    CREATE FUNCTION citus_add_local_table_to_metadata(table_name regclass) RETURNS void LANGUAGE sql AS $$
      INSERT INTO public.call (function, name) VALUES ('citus_add_local_table_to_metadata', table_name::text);
      INSERT INTO public.pg_dist_partition VALUES (table_name, 'n');
    $$;
    CREATE FUNCTION create_distributed_table(
      table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
      colocate_with text DEFAULT 'default'
    ) RETURNS void LANGUAGE sql AS $$
      INSERT INTO public.call (function, name, argument, colocate_with)
        VALUES ('create_distributed_table', table_name::text, distribution_column, colocate_with);
      INSERT INTO public.pg_dist_partition VALUES (table_name, 'h');
    $$;
    CREATE FUNCTION truncate_local_data_after_distributing_table(table_name regclass) RETURNS void LANGUAGE sql AS $$
      INSERT INTO public.call (function, name) VALUES ('truncate_local_data', table_name::text);
    $$;
    CREATE FUNCTION create_distributed_function(
      function_name regprocedure, distribution_arg_name text DEFAULT NULL, colocate_with text DEFAULT 'default'
    ) RETURNS void LANGUAGE sql AS $$
      INSERT INTO public.call (function, name, argument, colocate_with)
        VALUES ('create_distributed_function', function_name::text, distribution_arg_name, colocate_with);
    $$;`,
};

/** As `citus_set_coordinator_host` does. */
export const addCoordinator = (url: string) =>
  onDatabase(url, (client) => client.query('INSERT INTO pg_dist_node VALUES (0)'));
