/** Notifies the maintainers of a project that one of its mirrors has failed. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { levels, projectPage, recipientFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';
import { maskedUrl } from './rules.ts';

export type MirrorKind = 'push' | 'pull';

interface Failed {
  kind: MirrorKind;
  mirror_id: number;
}

/** The most maintainers notified. */
const maximumTold = 100;

const tables = { push: 'remote_mirrors', pull: 'pull_mirrors' } as const;

/** Sends one message, unless the mirror has succeeded meanwhile. */
export const tellOfMirrorFailure = job('tell_of_mirror_failure', {
  input: { kind: Type.Enum(['push', 'pull']), mirror_id: Id, user_id: Id },
  retries: mailRetries,
  async run({ db, mailer, url, input: { kind, mirror_id, user_id } }) {
    const mirror = await db
      .selectFrom(tables[kind])
      .innerJoin('projects', 'projects.id', 'project_id')
      .select(['url', 'hides_login', 'last_error', 'last_update_at', 'full_path', 'emails_enabled'])
      .where(`${tables[kind]}.id`, '=', mirror_id)
      .where('last_error', 'is not', null)
      .executeTakeFirst();
    const to = mirror?.emails_enabled ? await recipientFor(db, user_id) : undefined;
    if (!mirror || !to) return;
    const [does, where] = kind === 'push' ? ['push to', 'to'] : ['pull from', 'from'];
    await mailer.send({
      to,
      id: `mirror-${kind}-${mirror_id}-${user_id}-${mirror.last_update_at}`,
      subject: `The mirror of ${mirror.full_path} has failed`,
      paragraphs: [
        `The project ${mirror.full_path} could not ${does} its mirror.`,
        {
          facts: [
            [`Mirrored ${where}`, maskedUrl(mirror)],
            ['Error', mirror.last_error!],
          ],
        },
        kind === 'push'
          ? 'The next change of the repository has it tried again.'
          : 'It is paused until its settings are changed.',
        { link: 'View the project', url: url + projectPage(mirror.full_path) },
      ],
    });
  },
});

/** Enqueues the messages to the maintainers. */
export async function tellOfFailure(tx: Database, project_id: number, failed: Failed): Promise<void> {
  const { rows } = await sql<{ user_id: number }>`
    select distinct user_id from project_authorizations
     where project_id = ${project_id} and access_level >= ${levels.maintainer} order by user_id limit ${maximumTold}`.execute(
    tx,
  );
  await tellOfMirrorFailure.enqueueEach(
    tx,
    rows.map(({ user_id }) => ({ ...failed, user_id })),
  );
}
