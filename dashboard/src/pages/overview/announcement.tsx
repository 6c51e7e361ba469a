/** Announces the numbers of a newly selected range to screen readers, but not automatic updates. */
import { useEffect, useState } from 'react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../src/domain/queries/caller.js';
import { choiceName } from '../../format/dates.js';
import { count } from '../../format/numbers.js';
import { type View, writeView } from '../../navigation/view.js';
import type { Reading } from './use-reading.js';

export function Announcement({ view, reading }: { view: View; reading: Reading }) {
  const [said, setSaid] = useState({ asked: '', text: '' });
  const asked = writeView(view);
  const { numbers, isStale } = reading;

  useEffect(() => {
    if (numbers === undefined || isStale) return;
    const { counts } = numbers;
    const types = CALLER_TYPES.map((type) => `${CALLER_TYPE_NAMES[type]} ${count(counts[type])}`).join(', ');
    const who = view.caller === null ? '' : `, caller ${view.caller}`;
    const text = `${choiceName(view.choice)}${who}: ${count(counts.total)} queries. ${types}.`;
    setSaid((before) => (before.asked === asked ? before : { asked, text }));
  }, [asked, numbers, isStale, view]);

  return (
    <p className="out-of-sight" role="status">
      {said.text}
    </p>
  );
}
