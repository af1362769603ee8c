/** Issues as mail tells of them. */
import { issueKind } from '../../../access/index.ts';
import type { MailSubject } from '../../../services/index.ts';
import { issuableMail } from '../issuables/index.ts';

const mailOf = issuableMail(issueKind);

/** An issue that is closed because it has moved tells its participants of that. */
export const issueMail = (id: number): MailSubject => ({
  ...mailOf(id),
  async eventFor(db, event) {
    if (event !== 'close_issue') return event;
    const issue = await db.selectFrom('issues').select('moved_to_id').where('id', '=', id).executeTakeFirst();
    return issue?.moved_to_id == null ? event : 'move_issue';
  },
});
