/** Mail that asks users whether they are the person of another server. */
import { sql } from 'kysely';
import { proposalsPage, recipientFor } from '../../../access/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';

interface Proposed {
  user_id: number;
  importer: string | null;
  source_host: string;
  source_username: string;
  full_path: string;
}

/** Asks the account that has confirmed the address of a placeholder. */
export const tellOfProposal = job('tell_of_proposal', {
  input: { placeholder_id: Id },
  retries: mailRetries,
  async run({ db, mailer, url, input: { placeholder_id } }) {
    const { rows } = await sql<Proposed>`
      select proposed_user_id as user_id, importers.username as importer, source_host, source_username, namespaces.full_path
        from placeholders join namespaces on namespaces.id = group_id left join users importers on importers.id = proposed_by_id
       where placeholders.user_id = ${placeholder_id} and proposed_user_id is not null`.execute(db);
    const [proposed] = rows;
    const to = proposed && (await recipientFor(db, proposed.user_id));
    if (!to) return;
    const { importer, source_host, source_username, full_path } = proposed;
    await mailer.send({
      to,
      id: `placeholder-proposal-${placeholder_id}`,
      subject: `Are you ${source_username} at ${source_host}?`,
      paragraphs: [
        `${importer === null ? 'Somebody' : `@${importer}`} imported work from ${source_host} into ${full_path} that is said to be yours: that of the user ${source_username}.`,
        'Nothing is in your name unless you accept. Accept only if you know the user there to be you.',
        { link: 'Accept or reject', url: `${url}${proposalsPage}` },
      ],
    });
  },
});
