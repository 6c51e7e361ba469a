import { Option } from 'commander';
import { DEFAULT_ORGANIZATION_ID } from '../../domain/projects/project.js';

/** Whose projects, keys or members a command is about. */
export function organizationOption(): Option {
  return new Option('--organization <id>', 'the organization they belong to').default(
    DEFAULT_ORGANIZATION_ID,
  );
}
