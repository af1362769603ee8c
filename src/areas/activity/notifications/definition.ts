/** What nouns say of themselves for mail, in parts that several share. */
import { isReaderOf, type Noteable, readsInternalNotesOn, rowOf } from '../../../access/index.ts';
import type { MailSubject, MailTarget } from '../../../services/index.ts';

/** What is the same for everything that is commented on: its row, and who may read it. */
export const readersOf = (noteable: Noteable): Pick<MailSubject, 'row' | 'is_in_group' | 'isReader'> => ({
  row: rowOf(noteable),
  is_in_group: noteable.kind.places === 'namespaces',
  isReader: (is_internal) => (is_internal ? readsInternalNotesOn(noteable) : isReaderOf(noteable)),
});

/** @param subject by the id of the row */
export const mailTarget = (type: string, subject: (id: number) => MailSubject): MailTarget => ({
  types: [type],
  find: async (_db, id) => ({ subject: subject(id) }),
});
