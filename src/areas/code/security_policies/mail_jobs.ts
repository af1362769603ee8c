/** Tells people by mail that a file of policies has errors, and that policies have ended. */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { levels, pageBelow, projectPage, recipientFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';
import { policyPath } from './rules.ts';

/** The page with the policies of a project or group. */
const policySettingsPage = ({ full_path, is_group }: { full_path: string; is_group: boolean }): string =>
  pageBelow[is_group ? 'group' : 'project'](full_path, 'security/policies');

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

const EndOfPolicies = {
  user_id: Id,
  policy_project_id: Id,
  /** As it was called when they ended. */
  policy_path: Type.String(),
  /** What was linked. */
  places: Type.Array(Type.Object({ full_path: Type.String(), is_group: Type.Boolean() })),
  why: Type.Enum(['archived', 'deleted', 'moved']),
  /** In milliseconds since 1970. */
  ended_at: Type.Integer(),
};
export type EndOfPolicies = Static<Type.TObject<typeof EndOfPolicies>>;

const endTexts: Readonly<Record<EndOfPolicies['why'], string>> = {
  archived: 'was archived',
  deleted: 'is being deleted',
  moved: 'is not in the same top-level group any more',
};

/** Sends one message to an Owner of what was linked. */
export const tellOfPolicyEnd = job('tell_of_policy_end', {
  input: EndOfPolicies,
  retries: mailRetries,
  async run({ db, mailer, url, input: { user_id, policy_project_id, policy_path, places, why, ended_at } }) {
    const to = await recipientFor(db, user_id);
    const [first] = places;
    if (!to || !first) return;
    const names = places.map(({ full_path }) => full_path);
    await mailer.send({
      to,
      id: `security-policies-end-${policy_project_id}-${user_id}-${ended_at}`,
      subject: `The security policies of ${policy_path} have ended`,
      paragraphs: [
        `The policy project ${policy_path} ${endTexts[why]}. Its policies are not in force any more in ${new Intl.ListFormat('en').format(names)}.`,
        { link: 'View the settings', url: url + policySettingsPage(first) },
      ],
    });
  },
});
