/**
 * Fills a project in a database file that no other process has open. Arguments: the file and the name of the project.
 */
import { DatabaseSync } from '@photostructure/sqlite';
import { FILLS } from './fills.js';

const [file = '', which = ''] = process.argv.slice(2);
const db = new DatabaseSync(file);
FILLS[which as keyof typeof FILLS](db);
db.close();
