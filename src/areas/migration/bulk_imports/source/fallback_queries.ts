/** Relations that older sources do not export: read from their REST API and converted to the form of the relation. */
import { sql } from 'kysely';
import type { ArrivedRecord } from '../../../../relations/index.ts';
import { ownerOf, type StepCall } from '../step_definition.ts';
import { ask, isAbsent, isRecord, listedIfShown, pathAtSource } from './queries.ts';

type Line = Record<string, unknown>;

/**
 * Yields the records of a relation that is not exported, numbered in ascending order like lines.
 * @param after the line of the last record written; records up to it may be yielded again
 */
export type Fallback = (call: StepCall, after: number) => AsyncIterable<ArrivedRecord>;

/** Some endpoints do not return the times. */
const withTimes = ({ created_at = new Date().toISOString(), updated_at = created_at, ...value }: Line): Line => ({
  ...value,
  created_at,
  updated_at,
});

const named = (list: unknown): Line[] => (Array.isArray(list) ? list.filter(isRecord) : []);

/** @param recordOf converts a list item to a record */
const fromList = (name: string, recordOf = (value: Line): Line => value): Fallback =>
  async function* (call) {
    let line = 0;
    for await (const value of listedIfShown(call.source, `${pathAtSource(call.entity)}/${name}`))
      yield { line: ++line, value: withTimes(recordOf(value)) };
  };

const approvalRule = ({ users, groups, protected_branches, ...rule }: Line): Line => ({
  ...rule,
  approval_project_rules_users: named(users).map(({ id }) => ({ user_id: id })),
  approval_project_rules_groups: named(groups).map(({ id }) => ({ group_id: id })),
  approval_project_rules_protected_branches: named(protected_branches).map(({ name }) => ({ branch_name: name })),
});

const deployment = ({ user, ...value }: Line): Line => ({ ...value, user_id: isRecord(user) ? user.id : null });

/** The groups that a group or project is shared with, as its own endpoint lists them. */
async function* shares({ source, entity }: StepCall): AsyncGenerator<ArrivedRecord> {
  const { value } = await ask(source, pathAtSource(entity), { with_projects: false });
  let line = 0;
  for (const { group_full_path, group_access_level, ...share } of named(isRecord(value) && value.shared_with_groups))
    yield {
      line: ++line,
      value: withTimes({ ...share, full_path: group_full_path, group_access: group_access_level }),
    };
}

async function* pushRule({ source, entity }: StepCall): AsyncGenerator<ArrivedRecord> {
  try {
    const { value } = await ask(source, `${pathAtSource(entity)}/push_rule`);
    if (isRecord(value)) yield { line: 1, value: withTimes(value) };
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** The maximum number of links of one issue. */
const maximumLinks = 10_000;

/** The numbers of issues with a system note about a link. */
async function linkedIssues({ db, entity }: StepCall, from: number): Promise<number[]> {
  const { rows } = await sql<{ iid: number }>`
    select iid from issues where project_id = ${ownerOf(entity).id} and iid >= ${from}
       and exists (select from notes where issue_id = issues.id and system and body like 'marked this %') order by iid`.execute(
    db,
  );
  return rows.map(({ iid }) => iid);
}

/** The link as seen from one of its ends; undefined if the other end is the one that yields it. */
function linkFrom({ entity }: StepCall, source_iid: number, target: Line): Line | undefined {
  const { iid, link_type, link_created_at: created_at, link_updated_at: updated_at, references } = target;
  const full = isRecord(references) ? String(references.full) : '';
  const path = full.slice(0, full.lastIndexOf('#'));
  const isOther = path.toLowerCase() !== entity.source_full_path.toLowerCase();
  const isFirst = isOther ? entity.source_full_path.toLowerCase() < path.toLowerCase() : source_iid < Number(iid);
  if (link_type === 'is_blocked_by' || (link_type !== 'blocks' && !isFirst)) return undefined;
  return { source_iid, target_iid: iid, target_full_path: isOther ? path : null, link_type, created_at, updated_at };
}

async function* issueLinks(call: StepCall, after: number): AsyncGenerator<ArrivedRecord> {
  for (const iid of await linkedIssues(call, Math.floor(after / maximumLinks))) {
    let index = 0;
    for await (const target of listedIfShown(call.source, `${pathAtSource(call.entity)}/issues/${iid}/links`)) {
      const link = linkFrom(call, iid, target);
      if (link && ++index < maximumLinks) yield { line: iid * maximumLinks + index, value: withTimes(link) };
    }
  }
}

/** The fallbacks by kind of entity and relation. */
export const fallbacks: Readonly<Record<'group' | 'project', Readonly<Record<string, Fallback>>>> = {
  group: {
    push_rule: pushRule,
    group_links: shares,
    protected_environments: fromList('protected_environments'),
  },
  project: {
    freeze_periods: fromList('freeze_periods'),
    protected_tags: fromList('protected_tags'),
    group_links: shares,
    environments: fromList('environments'),
    protected_environments: fromList('protected_environments'),
    deployments: fromList('deployments', deployment),
    approval_rules: fromList('approval_rules', approvalRule),
    issue_links: issueLinks,
  },
};
