/** Announces the numbers of a newly selected range to screen readers, but not automatic updates. */
import { useEffect, useState } from 'react';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../src/domain/queries/caller.js';
import { count } from '../../format/numbers.js';
import { type View, writeView } from '../../navigation/view.js';
import { choiceName } from './toolbar/choice-name.js';
import type { Numbers } from './use-numbers.js';

export function Announcement({ view, numbers }: { view: View; numbers: Numbers }) {
  const [said, setSaid] = useState({ asked: '', text: '' });
  const asked = writeView(view);
  const { reading, isStale } = numbers;

  useEffect(() => {
    if (reading === undefined || isStale) return;
    const { counts } = reading;
    const types = CALLER_TYPES.map((type) => `${CALLER_TYPE_NAMES[type]} ${count(counts[type])}`).join(', ');
    const who = view.caller === null ? '' : `, caller ${view.caller}`;
    const text = `${choiceName(view.choice, view.zone)}${who}: ${count(counts.total)} queries. ${types}.`;
    setSaid((before) => (before.asked === asked ? before : { asked, text }));
  }, [asked, reading, isStale, view]);

  return (
    <p className="out-of-sight" role="status">
      {said.text}
    </p>
  );
}
