/** Downloads the entries of the audit log that fit the filter, as CSV. */
import { Download } from 'lucide-react';
import { toCsv } from '../../../../src/domain/counting/csv.js';
import { type AuditFilter, readAllEntries } from '../../api/audit.js';
import type { Organization } from '../../api/types.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { fileName } from '../../format/files.js';
import { saveFile } from '../../format/save-file.js';

const COLUMNS = ['number', 'at', 'actor', 'address', 'action', 'targetId', 'detail'] as const;

interface DownloadAuditProps {
  readonly organization: Organization;
  readonly filter: AuditFilter;
}

export function DownloadAudit({ organization, filter }: DownloadAuditProps) {
  const { run, isBusy } = useAction();
  const save = async (): Promise<void> => {
    const entries = await readAllEntries(organization.id, filter);
    const rows = entries.map((entry) => COLUMNS.map((column) => entry[column] ?? ''));
    saveFile(
      `${fileName(organization.id, 'audit-log')}.csv`,
      new Blob([toCsv(COLUMNS, rows)], { type: 'text/csv' }),
    );
  };
  return (
    <Button icon={Download} busy={isBusy} onClick={() => run(save)}>
      Download CSV
    </Button>
  );
}
