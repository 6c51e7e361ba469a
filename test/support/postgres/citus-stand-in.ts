/**
 * No Citus cluster can be had from npm, so an extension of the same name stands in for it: its functions note how they were
 * called, and nothing is spread. All projects share the shard 1, on the worker of `placeOn`, and there its tables are views.
 */
import { onDatabase } from '../storage/store.js';

/** Its files, for `startPostgres`. */
export const standIn = {
  'citus.control': "default_version = '1.0'\nrelocatable = false\nschema = public\n",
  'citus--1.0.sql': `
    CREATE TABLE call (number serial, function text, name text, argument text, colocate_with text);
    CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod char);
    CREATE TABLE pg_dist_node (groupid integer, nodename text, nodeport integer, noderole text DEFAULT 'primary',
      shouldhaveshards boolean DEFAULT true);
    CREATE TABLE pg_dist_placement (shardid bigint, groupid integer);
    CREATE FUNCTION get_shard_id_for_distribution_column(table_name regclass, value text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
    CREATE TABLE pg_dist_shard (shardid bigint, logicalrelid regclass);
    INSERT INTO pg_dist_partition VALUES ('call', 'h');
    INSERT INTO pg_dist_shard VALUES (2, 'call');
    INSERT INTO pg_dist_placement VALUES (1, 9);
    CREATE FUNCTION citus_shard_sizes(OUT shard_id int, OUT size bigint) RETURNS SETOF record LANGUAGE sql AS $$
      SELECT 1, 3145728::bigint UNION ALL SELECT 2, 90000000;
    $$;
    CREATE FUNCTION lock_shard_metadata(mode integer, shards bigint[]) RETURNS void LANGUAGE sql AS '';
    CREATE FUNCTION master_run_on_worker(names text[], ports integer[], commands text[], parallel boolean)
      RETURNS TABLE (success boolean, result text) LANGUAGE plpgsql AS $$
    BEGIN
      success := true;
      EXECUTE commands[1] INTO result;
      RETURN NEXT;
    END $$;
    CREATE FUNCTION citus_add_local_table_to_metadata(table_name regclass) RETURNS void LANGUAGE sql AS $$
      INSERT INTO public.call (function, name) VALUES ('citus_add_local_table_to_metadata', table_name::text);
      INSERT INTO public.pg_dist_partition VALUES (table_name, 'n');
    $$;
    CREATE FUNCTION create_distributed_table(
      table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
      colocate_with text DEFAULT 'default'
    ) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO public.call (function, name, argument, colocate_with)
        VALUES ('create_distributed_table', table_name::text, distribution_column, colocate_with);
      INSERT INTO public.pg_dist_partition VALUES (table_name, 'h');
      INSERT INTO public.pg_dist_shard SELECT 1, table_name WHERE distribution_column = 'id';
      EXECUTE format('CREATE VIEW %1$s_1 AS SELECT * FROM %1$s', table_name);
    END $$;
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
  onDatabase(url, (client) =>
    client.query('INSERT INTO pg_dist_node (groupid, shouldhaveshards) VALUES (0, false)'),
  );

/** Where all projects are, instead of where they were before. */
export const placeOn = (url: string, { group, host, port }: { group: number; host: string; port: number }) =>
  onDatabase(url, async (client) => {
    await client.query('DELETE FROM pg_dist_node WHERE groupid <> 0; DELETE FROM pg_dist_placement');
    await client.query('INSERT INTO pg_dist_node VALUES ($1, $2, $3)', [group, host, port]);
    await client.query('INSERT INTO pg_dist_placement VALUES (1, $1), (2, $1)', [group]);
  });
