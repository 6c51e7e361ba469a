/** The filters of the audit log, stored in the URL. */
import { useLocation, useSearch } from 'wouter';
import { AUDIT_ACTION_NAMES } from '../../../../src/domain/people/audit.js';
import { Button } from '../../components/forms/button.js';
import { SelectField, TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { FIELDS, type Filter, readFilter, writeFilter } from './filter.js';

export function AuditFilters() {
  const query = useSearch();
  const filter = readFilter(new URLSearchParams(query));
  const [path, navigate] = useLocation();
  const show = (next: string): void => navigate(next === '' ? path : `${path}?${next}`);
  return (
    <search>
      {/* Remounted when the URL changes, so that going back restores the fields. */}
      <form
        key={query}
        className="audit-filters"
        aria-label="Filter"
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          show(writeFilter(Object.fromEntries(FIELDS.map((one) => [one, getText(data, one)])) as Filter));
        }}
      >
        <SelectField label="Action" name="action" defaultValue={filter.action}>
          <option value="">All</option>
          {Object.entries(AUDIT_ACTION_NAMES).map(([action, name]) => (
            <option key={action} value={action}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Who"
          name="actor"
          placeholder="E-mail"
          defaultValue={filter.actor}
          autoComplete="off"
        />
        <TextField
          label="What"
          name="target"
          placeholder="Id or e-mail"
          defaultValue={filter.target}
          autoComplete="off"
          spellCheck={false}
        />
        <TextField label="From" name="from" type="date" defaultValue={filter.from} />
        <TextField label="To, inclusive" name="to" type="date" defaultValue={filter.to} />
        <div className="row">
          <Button type="submit">Filter</Button>
          {query !== '' && (
            <Button kind="quiet" onClick={() => show('')}>
              Clear
            </Button>
          )}
        </div>
      </form>
    </search>
  );
}
