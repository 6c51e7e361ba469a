/** The dialog that asks for confirmation, loaded when it is first needed. */
import { lazyPart } from '../../navigation/lazy-code.js';

export const ConfirmDialog = lazyPart(() => import('./confirm-form.js'), 'ConfirmForm');
