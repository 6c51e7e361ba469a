/** A link to a page of the documentation, such as `keys` or `projects#retention`. */
import type { ReactNode } from 'react';
import { docsUrl } from '../../navigation/base-path.js';

export function DocsLink({ page, children }: { page: string; children: ReactNode }) {
  return <a href={docsUrl(page)}>{children}</a>;
}
