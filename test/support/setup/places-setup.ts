import { afterAll } from 'vitest';
import { removePlaces } from '../cli/cli-place.js';
import { removeIdleDatabases } from '../storage/reused-database.js';

// Each test file runs this file, whereas it shares the modules of its process with others.
afterAll(removePlaces);
afterAll(removeIdleDatabases);
