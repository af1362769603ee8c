/** The subject of a notification, as described by its noun. */
import type { JobServices, MailNote, MailSubject } from '../../../services/index.ts';

/** The services with which jobs look up the subject of a notification. */
export type Reading = Pick<JobServices, 'db' | 'storages' | 'mail_targets'>;

/** The row to which a notification refers. */
export interface Target {
  /** The name in events, e.g. `MergeRequest` or `DiffNote`. */
  target_type: string;
  target_id: number;
}

/** The comment, if the notification is about one, and its subject; undefined if that was deleted. */
export async function subjectOf(
  { db, mail_targets }: Reading,
  { target_type, target_id }: Target,
): Promise<{ subject: MailSubject; note?: MailNote } | undefined> {
  const target = mail_targets.find(({ types }) => types.includes(target_type));
  return target?.find(db, target_id, target_type);
}
