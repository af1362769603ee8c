/** Issues in mail. */
import { issueKind } from '../../../access/index.ts';
import type { MailSubject } from '../../../services/index.ts';
import { issuableMail } from '../issuables/mail_queries.ts';

const mailOf = issuableMail(issueKind);

/** If an issue was closed because it was moved, its mail is sent as the event `move_issue`. */
export const issueMail = (id: number): MailSubject => ({
  ...mailOf(id),
  async eventFor(db, event) {
    if (event !== 'close_issue') return event;
    const issue = await db.selectFrom('issues').select('moved_to_id').where('id', '=', id).executeTakeFirst();
    return issue?.moved_to_id == null ? event : 'move_issue';
  },
});
