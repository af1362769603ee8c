/** Two servers, record by record: after a migration every list answers as at the source, but for what the report of the migration names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComparedLists, listOperations, type Pair, type Side } from '../../../test/support/compared_lists.ts';
import { anotherDatabase } from '../../../test/support/database.ts';
import { atFileEnd } from '../../../test/support/file_end.ts';
import { fillPlace } from '../../../test/support/full_place.ts';
import { runMigrations, type ShownEntity } from '../../../test/support/migrations.ts';
import { populate, startServer } from '../../../test/support/populate.ts';
import { writeExports } from '../../../test/support/relation_exports.ts';
import { sent } from '../../../test/support/sent.ts';
import { allowLocalSources } from '../../../test/support/source.ts';
import { type World, world } from '../../../test/support/world.ts';

/** What stays at the source: by the list, what the report calls it. */
const leftBehind: Readonly<Record<string, string>> = {
  listProjectHooks: 'webhooks_count, hooks',
  listGroupHooks: 'webhooks_count, hooks',
  listGroupAuditEventStreamingDestinations: 'webhooks_count, audit_event_streaming_destinations',
  listProjectVariables: 'webhooks_count, variables',
  listGroupVariables: 'webhooks_count, variables',
  listProjectDeployTokens: 'webhooks_count, deploy_tokens',
  listGroupDeployTokens: 'webhooks_count, deploy_tokens',
  listProjectDeployKeys: 'webhooks_count, deploy_keys',
  listProjectAccessTokens: 'webhooks_count, access_tokens',
  listGroupAccessTokens: 'webhooks_count, access_tokens',
  listGroupServiceAccounts: 'webhooks_count, service_accounts',
  listGroupMemberRoles: 'webhooks_count, member_roles',
  listProjectInvitations: 'webhooks_count, invitations',
  listGroupInvitations: 'webhooks_count, invitations',
  listProjectAccessRequests: 'webhooks_count, access_requests',
  listGroupAccessRequests: 'webhooks_count, access_requests',
  listProjectStarrers: 'webhooks_count, stars',
  listDraftNotes: 'webhooks_count, draft_notes',
  listIssueMetricImages: 'webhooks_count, metric_images',
  listRemoteMirrors: 'webhooks_count, push_mirrors',
  listErrors: 'webhooks_count, errors',
  listErrorTrackingReleasesHealth: 'webhooks_count, errors',
  listErrorTrackingClientKeys: 'webhooks_count, client_keys',
};

/** Of which records the report names those that are missing in a list: what it calls them, and which they are. */
const partlyLeft: Readonly<Record<string, { report: string; isLeft(item: Record<string, unknown>): boolean }>> = {
  listProjectEvents: {
    report: 'webhooks_count, events',
    isLeft: ({ target_type }) => !/^(?:Issue|MergeRequest|.*Note)$/.test(String(target_type)),
  },
};

/** Lists that differ by their nature, each with the reason. */
const ofTheServer: Readonly<Record<string, string>> = {
  listGroupTransferLocations: 'the other groups of the server',
  listProjectTransferLocations: 'the other groups of the server',
  listProjectShareLocations: 'the groups that the caller may share with, of whom the importer owns all',
  listGroupAuditEvents: 'who did what on each server',
  listProjectAuditEvents: 'who did what on each server',
  listBillableMembers: 'what each server knows of its accounts',
  listComplianceViolations: 'how merges were approved on each server',
  listGroupRelationExports: 'the exports from which the copy was made',
  listGroupRelationExportsAlias: 'the exports from which the copy was made',
  listProjectRelationExports: 'the exports from which the copy was made',
  listProjectRelationExportsAlias: 'the exports from which the copy was made',
};

/** Lists below records that are not at both servers, or are found in another way. */
const notMet: Readonly<Record<string, string>> = {
  listGroupServiceAccountTokens: 'service accounts stay',
  listGroupHookEvents: 'webhooks stay',
  listProjectHookEvents: 'webhooks stay',
  listErrorEvents: 'errors stay',
  listPipelinesOfSchedule: 'schedules stay',
  listUpcomingJobs: 'resource groups stay',
  listEpicNoteAwardEmoji: 'notes of epics are listed by the id of the epic, their reactions by its number',
  listEpicNoteAwardEmojiAlias: 'notes of epics are listed by the id of the epic, their reactions by its number',
  listProjectTemplates: 'templates are files of the repository, by their kind',
  getFileBlame: 'a file of the repository',
};

/** Members that differ by their nature, each with the reason. */
const ofEachServer: Readonly<Record<string, string>> = {
  id: 'another one at each server',
  imported: 'says that it was copied',
  imported_from: 'says that it was copied',
  merge_status: 'found out again',
  detailed_merge_status: 'found out again',
  permissions: 'those of the importer, who owns what they made',
  prepared_at: 'the time of the import',
  checked_at: 'the moment of the request',
  import_status: 'whether this server has copied it by itself, as a fork',
  star_count: 'reported as stars',
};

async function anotherServer(): Promise<World> {
  const { db } = await anotherDatabase();
  const running = await startServer(db, {});
  atFileEnd(running.stop);
  return populate(running);
}

/** Members of single lists that differ, each with the reason. */
const ofLists: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...Object.fromEntries(
    ['listGroupMembers', 'listAllGroupMembers', 'listProjectMembers', 'listAllProjectMembers'].map((operation) => [
      operation,
      { created_by: 'the importer, who has added them' },
    ]),
  ),
  listProjectSnippets: { author: 'shows when the account was made' },
  listProjectEvents: { target_iid: 'the id of a note, which is another one at each server' },
  listProjectUploads: {
    created_at: 'no archive tells it',
    uploaded_by: "no archive tells it: they are the importer's",
  },
  listGroupUploads: { created_at: 'no archive tells it', uploaded_by: "no archive tells it: they are the importer's" },
};

/** Addresses, ids, and tokens that follow from them. */
const isAddress = /(?:_id|_ids|_url|_url_to_repo|^url|^links|^_links|^runners_token)$/;
const personas = /\b(guest|planner|reporter|developer|maintainer|owner|outsider|admin)([- ])\d+\b/g;

/** Whether it is the importer, who is a member of what they made, or a bot, which stays with its token. */
const isElsewhere = (value: object) =>
  'username' in value && /^admin-|^(?:group|project)_\d+_bot_/.test(String(value.username));

/** A value without ids and addresses, with people by their part; undefined for those who are at one server only. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable).filter((each) => each !== undefined);
  if (typeof value === 'string') return value.replaceAll(personas, '$1');
  if (typeof value !== 'object' || value === null) return value;
  if (isElsewhere(value)) return undefined;
  const kept = Object.entries(value).filter(([name]) => !(name in ofEachServer) && !isAddress.test(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, comparable(member)]));
}

/** Has people show the same addresses at both servers. */
async function acquaint(from: World, to: World): Promise<void> {
  for (const persona of Object.keys(from.people) as (keyof World['people'])[]) {
    const public_email = `${to.people[persona].username}@example.com`;
    for (const { db, people } of [from, to])
      await db.updateTable('users').set({ public_email }).where('id', '=', people[persona].id).execute();
  }
}

/** The paths of the groups at the top. */
const groupsOf = async ({ db }: World): Promise<string[]> => {
  const groups = db.selectFrom('namespaces').select('path').where('kind', '=', 'group').where('parent_id', 'is', null);
  return (await groups.orderBy('id').execute()).map(({ path }) => path);
};

/** Migrates the groups of a server to another one. @returns the entities, by their full paths */
async function migrate(from: World, to: World): Promise<Map<string, ShownEntity>> {
  const entities = (await groupsOf(from)).map((path) => ({
    ...{ source_type: 'group_entity', source_full_path: path, destination_slug: path, destination_namespace: '' },
  }));
  const configuration = { url: from.url, access_token: from.people.admin.token };
  const { id } = await sent(to.as('admin').post('/bulk_imports', { configuration, entities }));
  let isOver = false;
  const exporting = (async () => {
    for (; !isOver; await sleep(20)) await writeExports(from);
  })();
  await runMigrations(to).finally(() => {
    isOver = true;
  });
  await exporting;
  const shown: ShownEntity[] = await sent(to.as('admin').get(`/bulk_imports/${id}/entities`));
  assert.deepEqual(new Set(shown.map(({ status }) => status)), new Set(['finished']));
  return new Map(shown.map((entity) => [entity.source_full_path, entity]));
}

test('after a migration two servers list the same records, except for those in its report', async () => {
  const [from, to] = [await world({}), await anotherServer()];
  await acquaint(from, to);
  await fillPlace(from);
  await allowLocalSources(to);
  const entities = await migrate(from, to);
  const kinds = { groups: from.group, projects: from.project };
  const met = new Set<string>();
  const wrong: string[] = [];
  for (const kind of ['groups', 'projects'] as const) {
    const entity = entities.get(kinds[kind].full_path)!;
    const copy_id = (kind === 'groups' ? entity.namespace_id : entity.project_id)!;
    const sides: [Side, Side] = [
      { client: from.as('admin'), id: kinds[kind].id },
      { client: to.as('admin'), id: copy_id },
    ];
    const lists = new ComparedLists(kind, sides, comparable);
    for await (const pair of lists.pairs()) {
      met.add(pair.operation);
      if (pair.operation in ofTheServer) continue;
      const difference = await differenceIn(lists, pair, entity);
      if (difference !== undefined) wrong.push(`${pair.operation} ${pair.paths[0]}: ${difference}`);
    }
    const [before, copy] = await Promise.all(sides.map(({ client, id }) => sent(client.get(`/${kind}/${id}`))));
    assert.deepEqual(comparable(copy), comparable(before));
  }
  assert.equal(wrong.join('\n\n'), '');
  const named = [leftBehind, partlyLeft, ofTheServer, ofLists, notMet].flatMap((list) => Object.keys(list));
  const known = listOperations();
  assert.deepEqual(
    named.filter((operation) => !known.includes(operation)),
    [],
    'lists that there are not',
  );
  assert.deepEqual(known.filter((operation) => !met.has(operation)).toSorted(), Object.keys(notMet).toSorted());
});

/** Why a list and its copy are not the same; undefined if they are, or if the report names what is missing. */
async function differenceIn(
  lists: ComparedLists,
  { operation, paths }: Pair,
  { stats }: ShownEntity,
): Promise<string | undefined> {
  const [before, copy] = await Promise.all([lists.read(0, paths[0]), lists.read(1, paths[1])]);
  const reported = leftBehind[operation];
  if (reported !== undefined) {
    const isNamed = before.items.length === 0 || (stats[reported]?.source ?? 0) > 0;
    return copy.items.length === 0 && isNamed ? undefined : `the report does not name ${reported}`;
  }
  const partly = partlyLeft[operation];
  const expected = before.items.filter((item) => !partly?.isLeft(item));
  if (partly && stats[partly.report]?.source !== before.items.length - expected.length)
    return `the report does not count ${partly.report}`;
  const excused = ofLists[operation] ?? {};
  const without = (items: readonly Record<string, unknown>[]) =>
    items
      .map((item) => comparable(Object.fromEntries(Object.entries(item).filter(([name]) => !(name in excused)))))
      .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  try {
    assert.deepEqual([copy.status, without(copy.items)], [before.status, without(expected)]);
    return undefined;
  } catch (error) {
    return (error as Error).message.replaceAll(/^(?![+-]).*\n/gm, '');
  }
}
