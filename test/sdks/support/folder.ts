import { join } from 'node:path';
import { root } from '../../tidy/sources.js';

/** The folder that has the SDKs' packages. */
export const sdksFolder = join(root, 'test/sdks');
