/** Pipelines for pushes: a push never waits for one (docs/reference/pipelines.md#what-starts-a-pipeline). */
import { type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import { callerInJob, mayUse, projectFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { readCommit, repositoryOf, resolveBranch, resolveCommit } from '../../../git/index.ts';
import { Id, nullable, optional } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import type { ProjectMoveDetails, PushFollower } from '../../../services/index.ts';

type PushedRefs = Parameters<PushFollower['follow']>[1]['moved'];

import { stopEnvironments } from '../../deployments/environments/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { type PushOptions, readOptions } from './option_rules.ts';
import { openOnesOf } from './queries.ts';
import { cancelRedundant } from './redundant_actions.ts';
import { planPipeline, storePlanned } from './start_actions.ts';

/** Further references of one push start none. */
const mostRefs = 4;
const skipped = /\[(?:ci skip|skip ci)\]/i;

/** Whether the message of a commit asks for no jobs. */
export const isSkipped = (message: string): boolean => skipped.test(message);

const input = {
  project_id: Id,
  user_id: Id,
  ref: Type.String(),
  /** Null for a new branch or tag. */
  before_sha: nullable(Type.String()),
  sha: Type.String(),
  requested_as: Type.String(),
  /** Predefined variables about the branch; jobs of an earlier version have none. */
  predefined: optional(Type.Record(Type.String(), Type.String())),
  /** The options of the push, encrypted, in Base64. */
  options: optional(Type.String()),
};

/**
 * The options of a push; none if there are none, or they cannot be decrypted any more.
 * @param sealed encrypted, in Base64
 */
export function optionsIn(secrets: Secrets, sealed: string | undefined): PushOptions {
  const text = sealed === undefined ? undefined : secrets.unseal('push options', Buffer.from(sealed, 'base64'));
  return readOptions(text === undefined ? [] : JSON.parse(text));
}

/** Enqueued by the transaction of a push, for each branch or tag that it has moved. */
export const startForPush = job('start_pipeline_for_push', {
  input,
  retries: 3,
  run: async ({ input: pushed, log: _log, signal: _signal, ...services }) => {
    const { project_id, user_id } = pushed;
    const caller = await callerInJob(services, user_id);
    const project = caller && (await projectFor(services.db, caller, String(project_id)));
    if (!caller || !project || project.read_only || !mayUse(project, 'builds')) return;
    const { ref, before_sha, sha, requested_as, predefined = {}, options } = pushed;
    const { skips, variables, inputs } = optionsIn(services.secrets, options);
    const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
    const asked = {
      source: 'push' as const,
      ref,
      variables,
      inputs,
      sha,
      requested_as,
      predefined,
      ...(before_sha && { before_sha }),
    };
    const repository = repositoryOf(services, project);
    // Later pushes may have replaced it, and git has removed it since.
    if ((await resolveCommit(repository, sha)) === undefined) return;
    const planned = await planPipeline(services, { project, caller }, asked);
    const { message } = await readCommit(repository, sha);
    const id = await storePlanned(services, planned, { isSkipped: skips || isSkipped(message) });
    if (id === undefined || !planned.made) return;
    const head = await resolveBranch(repository, name);
    if (head !== undefined && !planned.made.tag) await cancelRedundant(services.db, { project_id, ref: name, head });
  },
});

/** Starts the jobs that stop the environments of deleted branches. */
async function stopAbandoned(
  tx: Database,
  { project_id, user_id, moved }: { project_id: number; user_id: number; moved: PushedRefs },
): Promise<void> {
  const deleted = moved.flatMap(({ ref, new: sha }) =>
    sha === null && /^refs\/heads\//.test(ref) ? [ref.slice(11)] : [],
  );
  if (deleted.length === 0) return;
  const which = sql<SqlBool>`environments.id in (
    select environment_id from deployments
     where project_id = ${project_id} and ref = any(${deleted}::text[]) and not tag and on_stop is not null and job_id is not null
       and id = (select id from deployments last where last.environment_id = deployments.environment_id and last.status = 'success'
                  order by finished_at desc, id desc limit 1))`;
  await stopEnvironments(tx, which, { user_id });
}

export const pipelineFollower: PushFollower = {
  follow:
    async (_services, { owner, user_id, update_id, moved, changes, push_options }) =>
    async (tx) => {
      if (user_id === null) return;
      await stopAbandoned(tx, { project_id: owner.id, user_id, moved });
      if ((changes as ProjectMoveDetails | undefined)?.without_pipelines) return;
      if (!(await settingsOf(tx)).pipelines_for_pushes) return;
      const built = moved.flatMap(({ ref, old, new: sha }) =>
        /^refs\/(?:heads|tags)\//.test(ref) && sha !== null ? [{ ref, before_sha: old, sha }] : [],
      );
      const started = built.slice(0, mostRefs).map(async (update) => {
        const [, branch] = /^refs\/heads\/(.*)$/s.exec(update.ref) ?? [];
        const open = branch === undefined ? undefined : await openOnesOf(tx, owner.id, branch);
        return {
          ...{ ...update, project_id: owner.id, user_id, requested_as: `push ${update_id} ${update.ref}` },
          ...(push_options && { options: push_options.toString('base64') }),
          ...(open !== undefined && { predefined: { CI_OPEN_MERGE_REQUESTS: open } }),
        };
      });
      await startForPush.enqueueEach(tx, await Promise.all(started));
    },
  answer: async ({ db }, { moved, push_options }) => {
    const started = moved.filter(({ ref, new: sha }) => /^refs\/(?:heads|tags)\//.test(ref) && sha !== null);
    const isCut = started.length > mostRefs && (await settingsOf(db)).pipelines_for_pushes;
    const cut = `Pipelines start for ${mostRefs} of the ${started.length} branches and tags only.`;
    return [...readOptions(push_options).ignored, ...(isCut ? [cut] : [])];
  },
};
