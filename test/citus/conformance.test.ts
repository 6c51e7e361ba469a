/** The conformance suite on a cluster of an installed Citus. */
import { afterAll, beforeAll } from 'vitest';
import { describeStore } from '../conformance/suite.js';
import { removeIdleDatabases } from '../support/storage/reused-database.js';
import { type PlaceFactory, postgresPlace } from '../support/storage/store.js';
import { CitusCluster } from './cluster.js';

let cluster: CitusCluster;
let places: PlaceFactory;

beforeAll(async () => {
  cluster = await CitusCluster.start();
  const url = cluster.coordinator.url();
  places = postgresPlace(url, url);
});

afterAll(async () => {
  await removeIdleDatabases();
  await cluster?.stop();
});

describeStore('Citus', (age) => places(age));
