/** Sending to a hook on request: a sample of an event, or a past event again. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type Owner, refuseTooOften, tooOftenText } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Access,
  type AnyEndpoint,
  ApiError,
  type Caller,
  found,
  Id,
  one,
  type Plan,
  post,
  resource,
  type Services,
} from '../../../http/index.ts';
import type { Filling } from '../../../services/index.ts';
import { bodyOf } from './body_present.ts';
import type { Samples } from './definition.ts';
import { type Outcome, sendNow } from './delivery_actions.ts';
import { hookOf } from './queries.ts';
import { isSuccess } from './rules.ts';

interface HookSource {
  base: string;
  Noun: string;
  of: string;
  access: Access<{ caller: Caller; owner: Owner }>;
  plan: { plan?: Plan };
}

const maximumAMinute = 5;

/** Not configurable, because each call makes this server send a request to another one. */
const limit = (db: Database, name: string, who: string) =>
  refuseTooOften(db, { name, who, most: maximumAMinute, window_s: 60 });

const refused = (message: string) => new ApiError(422, { message });

/** The error for a failed attempt. */
const failure = ({ response_status, response_body }: Outcome): ApiError =>
  refused(response_status === null ? response_body : `Hook executed, but returned status ${response_status}`);
const failures = ['<reason>', 'Hook executed, but returned status <status>'];

const lacking: Record<keyof Samples, string> = {
  push_events: 'Ensure the project has at least one commit.',
  tag_push_events: 'Ensure the project has at least one commit.',
  issues_events: 'Ensure the project has issues.',
  note_events: 'Ensure the project has notes.',
  merge_requests_events: 'Ensure the project has merge requests.',
  emoji_events: 'Ensure the project has issues.',
  milestone_events: 'Ensure the project has milestones.',
  wiki_page_events: 'Ensure the wiki is enabled and has pages.',
  resource_access_token_events: 'Ensure the project exists.',
  error_events: 'Ensure the project has errors.',
  feature_flag_events: 'Ensure the project has feature flags.',
  vulnerability_events: 'Ensure the project has vulnerabilities.',
  deployment_events: 'Ensure the project has deployments.',
  releases_events: 'Ensure the project has releases.',
  job_events: 'Ensure the project has CI jobs.',
  pipeline_events: 'Ensure the project has CI pipelines.',
};
const noProject = 'Ensure the group has a project.';

const tested = [
  ...(Object.keys(lacking) as (keyof Samples)[]),
  'confidential_issues_events',
  'confidential_note_events',
] as const;
const TestTrigger = Type.Enum(tested);

/** The sample with which a trigger is tested. */
const sampleOf = (trigger: (typeof tested)[number]): keyof Samples =>
  trigger === 'confidential_issues_events'
    ? 'issues_events'
    : trigger === 'confidential_note_events'
      ? 'note_events'
      : trigger;

/** The project whose data is sampled: for a group, the newest one below it. */
async function projectToSample(db: Database, { project_id, group_id }: Owner): Promise<number | undefined> {
  if (project_id !== null) return project_id;
  const { rows } = await sql<{ id: number }>`
    select projects.id from namespaces join projects on projects.namespace_id = namespaces.id
     where namespaces.traversal_ids @> array[${group_id}]::bigint[] order by projects.id desc limit 1`.execute(db);
  return rows[0]?.id;
}

/** @throws ApiError 422 if there is nothing to sample */
async function sampledEvent(
  services: Pick<Services, 'hook_events'> & Filling,
  samples: Samples,
  { caller, owner, trigger }: { caller: Caller; owner: Owner; trigger: (typeof tested)[number] },
) {
  const name = sampleOf(trigger);
  const project_id = await projectToSample(services.db, owner);
  if (project_id === undefined) throw refused(noProject);
  const sample = await samples[name](services, { project_id, user_id: caller.id });
  const rows =
    sample && (await sql<{ snapshot: unknown }>`select ${sample.snapshot} as snapshot`.execute(services.db)).rows;
  const snapshot = rows?.[0]?.snapshot;
  if (!sample || !snapshot) throw refused(lacking[name]);
  const { event } = sample;
  const body = await bodyOf(services, event, snapshot, { trigger: name, is_system: false });
  return { trigger, event, body: JSON.stringify(body) };
}

const Created = Type.Object({ message: Type.String() });

export const testRoute = (
  kind: 'project' | 'group',
  { base, Noun, of, access, plan }: HookSource,
  samples: Samples,
): AnyEndpoint =>
  post(`${base}/:hook_id/test/:trigger`, {
    operation: `test${Noun}Hook`,
    summary: `Send a sample event to a webhook of ${of}`,
    description: `At most ${maximumAMinute} times a minute for each user and ${kind}. A success enables a disabled webhook.`,
    access,
    ...plan,
    input: { hook_id: Id, trigger: TestTrigger },
    returns: one(Created),
    refusals: {
      422: [...new Set([...Object.values(lacking), noProject, ...failures])],
      429: tooOftenText,
    },
    handle: async ({ caller, owner, input, ...services }) => {
      const hook = await hookOf(services.db, owner, input.hook_id);
      const { trigger } = input;
      await limit(services.db, 'web_hook_test', `${owner.project_id ?? ''}/${owner.group_id ?? ''}/${caller.id}`);
      const event = await sampledEvent(services, samples, { caller, owner, trigger });
      const outcome = await sendNow(services, hook, event);
      if (!isSuccess(outcome.response_status)) throw failure(outcome);
      return { message: '201 Created' };
    },
  });

const Resent = resource('ResentHookEvent', { response_status: Type.Integer() });
const changedText = 'The hook URL has changed. This log entry cannot be retried.';

export const resendRoute = ({ base, Noun, of, access, plan }: HookSource): AnyEndpoint =>
  post(`${base}/:hook_id/events/:hook_event_id/resend`, {
    operation: `resend${Noun}HookEvent`,
    summary: `Send an event to a webhook of ${of} once more`,
    description: `At most ${maximumAMinute} times a minute for each user and webhook.`,
    access,
    ...plan,
    input: { hook_id: Id, hook_event_id: Id },
    returns: one(Resent),
    refusals: { 422: [changedText, '<reason>'], 429: tooOftenText },
    handle: async ({ caller, owner, input, ...services }) => {
      const { db } = services;
      const hook = await hookOf(db, owner, input.hook_id);
      const sent = db.selectFrom('hook_deliveries').select(['event_id', 'url']).where('hook_id', '=', hook.id);
      const row = await sent.where('id', '=', input.hook_event_id).where('due_at', 'is', null).executeTakeFirst();
      const event = found(undefined, row);
      if (event.url !== hook.url) throw refused(changedText);
      await limit(db, 'web_hook_event_resend', `${hook.id}/${caller.id}`);
      const outcome = await sendNow(services, hook, { id: event.event_id });
      if (outcome.response_status === null) throw failure(outcome);
      return { response_status: outcome.response_status };
    },
  });

/** The samples with which system hooks are tested. */
const systemSample = {
  event_name: 'project_create',
  name: 'Ruby',
  path: 'ruby',
  project_id: 1,
  owner_name: 'Someone',
  owner_email: 'example@example.com',
};

export const systemTestRoute = ({ base, access }: HookSource): AnyEndpoint =>
  post(`${base}/:id`, {
    operation: 'testSystemHook',
    summary: 'Send a sample event to a webhook of the server',
    description: `At most ${maximumAMinute} times a minute for each user and webhook. The reply is the sample, whatever comes of it.`,
    access,
    input: { id: Id },
    returns: one(
      Type.Object({
        event_name: Type.String(),
        name: Type.String(),
        path: Type.String(),
        project_id: Type.Integer(),
        owner_name: Type.String(),
        owner_email: Type.String(),
      }),
    ),
    refusals: { 429: tooOftenText },
    handle: async ({ caller, owner, input, ...services }) => {
      const hook = await hookOf(services.db, owner, input.id);
      await limit(services.db, 'system_hook_test', `${hook.id}/${caller.id}`);
      await sendNow(services, hook, { trigger: 'system_events', event: null, body: JSON.stringify(systemSample) });
      return systemSample;
    },
  });
