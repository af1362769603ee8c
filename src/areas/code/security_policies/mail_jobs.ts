/** Tells people by mail that a file of policies has errors, and that policies have ended. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { levels, projectPage, recipientFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';
import { policyPath } from './rules.ts';

/** The most people told. */
const maximumTold = 100;
/** The most errors in a message. */
const maximumErrors = 10;

/** Sends one message, unless the file has changed meanwhile. */
export const tellOfPolicyErrors = job('tell_of_policy_errors', {
  input: { project_id: Id, user_id: Id, blob_id: Type.String() },
  retries: mailRetries,
  async run({ db, mailer, url, input: { project_id, user_id, blob_id } }) {
    const file = await db
      .selectFrom('security_policy_files as file')
      .innerJoin('projects', 'projects.id', 'file.project_id')
      .select(['errors', 'full_path', 'emails_enabled'])
      .where('file.project_id', '=', project_id)
      .where('read_blob_id', '=', blob_id)
      .where(sql<boolean>`errors <> '{}'`)
      .executeTakeFirst();
    const to = file?.emails_enabled ? await recipientFor(db, user_id) : undefined;
    if (!file || !to) return;
    await mailer.send({
      to,
      id: `security-policies-${project_id}-${user_id}-${blob_id}`,
      subject: `The security policies of ${file.full_path} have errors`,
      paragraphs: [
        `The file ${policyPath} of ${file.full_path} was pushed with errors. The version before it stays in force.`,
        ...file.errors.slice(0, maximumErrors),
        { link: 'View the project', url: url + projectPage(file.full_path) },
      ],
    });
  },
});

/** Tells the maintainers of a policy project of the errors of its file. */
export async function tellMaintainers(tx: Database, project_id: number, blob_id: string): Promise<void> {
  const { rows } = await sql<{ user_id: number }>`
    select distinct user_id from project_authorizations
     where project_id = ${project_id} and access_level >= ${levels.maintainer} order by user_id limit ${maximumTold}`.execute(
    tx,
  );
  await tellOfPolicyErrors.enqueueEach(
    tx,
    rows.map(({ user_id }) => ({ project_id, user_id, blob_id })),
  );
}
