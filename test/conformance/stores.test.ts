import { placeFactories } from '../support/storage/store.js';
import { describeStore } from './suite.js';

for (const [kind, factory] of placeFactories) describeStore(kind, factory);
