/** What a notification is about, as its noun says. */
import type { JobServices, MailNote, MailSubject } from '../../../services/index.ts';

/** What jobs need to know what a notification is about. */
export type Reading = Pick<JobServices, 'db' | 'storages' | 'mail_targets'>;

/** The row that a notification names. */
export interface Target {
  /** As events name it, e.g. `MergeRequest` or `DiffNote`. */
  target_type: string;
  target_id: number;
}

/** The comment, if it is one, and what a notification is about; undefined when that is gone. */
export async function subjectOf(
  { db, mail_targets }: Reading,
  { target_type, target_id }: Target,
): Promise<{ subject: MailSubject; note?: MailNote } | undefined> {
  const target = mail_targets.find(({ types }) => types.includes(target_type));
  return target?.find(db, target_id, target_type);
}
