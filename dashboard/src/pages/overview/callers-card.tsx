/** The composition of *other*: each integration and SDK by name. */
import { useState } from 'react';
import type { Callers } from '../../api/types.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Button } from '../../components/forms/button.js';
import { count, share } from '../../format/numbers.js';

/** Rows shown before "show all". */
const firstRows = 8;

export function CallersCard({ callers: { callers } }: { callers: Callers }) {
  const [isWhole, setWhole] = useState(false);
  const others = callers.filter(({ type }) => type === 'other');
  const whole = others.reduce((sum, caller) => sum + caller.count, 0);
  const most = others[0]?.count ?? 1;
  const shown = isWhole ? others : others.slice(0, firstRows);
  return (
    <section className="card callers" aria-label="Other callers">
      <div className="card-head">
        <h2>Other callers</h2>
      </div>
      {others.length === 0 ? (
        <EmptyState title="No integrations or SDKs in this range">
          Queries from integrations and SDKs appear here by the name of their caller, such as{' '}
          <code>slack</code> or <code>sdk-python</code>.
        </EmptyState>
      ) : (
        <table className="callers-table">
          <caption className="out-of-sight">Callers of type other, most queries first</caption>
          <thead className="out-of-sight">
            <tr>
              <th scope="col">Caller</th>
              <th scope="col">Queries</th>
              <th scope="col">Share of other</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((caller) => (
              <tr key={caller.caller}>
                <th scope="row">
                  <Bar part={caller.count} whole={most} />
                  <span className="callers-name">{caller.caller}</span>
                </th>
                <td className="numbers">{count(caller.count)}</td>
                <td className="numbers quiet">{share(caller.count, whole)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {others.length > firstRows && (
        <div className="callers-more">
          <Button kind="quiet" onClick={() => setWhole(!isWhole)} aria-expanded={isWhole}>
            {isWhole ? 'Show fewer' : `Show all ${count(others.length)}`}
          </Button>
        </div>
      )}
    </section>
  );
}

/** An SVG, because the Content-Security-Policy forbids inline styles. */
function Bar({ part, whole }: { part: number; whole: number }) {
  return (
    <svg className="callers-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden>
      <rect width={Math.max(4, (part / whole) * 1000)} height="10" className="bar type-other" />
    </svg>
  );
}
