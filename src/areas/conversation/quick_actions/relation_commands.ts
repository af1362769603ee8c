/** Commands on links to issues and epics, and on the location of an item. */
import { sql } from 'kysely';
import { mayRead, projectFor } from '../../../access/index.ts';
import { labelsOf } from '../../planning/labels/index.ts';
import type { Definition, Situation } from './definition.ts';
import { type NamedIssue, namedEpic, namedIssues, namedSource } from './queries.ts';
import { has, listed, projectOf } from './rules.ts';
import { promoteToIncident } from './tracking_commands.ts';

const namesOf = (issues: readonly NamedIssue[]) => listed.format(issues.map(({ reference }) => reference));

type LinkType = 'relates_to' | 'blocks' | 'is_blocked_by';

/** Links are created after all checks have passed. */
async function link(situation: Situation, argument: string, type: LinkType, words: string) {
  const issues = await namedIssues(situation, argument);
  const { operations } = situation;
  if (issues.length === 0 || !operations.link) return undefined;
  return async () => {
    const ids = issues.map(({ id }) => id);
    return (await operations.link!(ids, type))
      ? `Marked this ${situation.kind} as ${words} ${namesOf(issues)}.`
      : undefined;
  };
}

export const linkCommands: readonly Definition[] = [
  {
    names: ['relate'],
    needs: 'report',
    apply: (situation, argument) => link(situation, argument, 'relates_to', 'related to'),
  },
  {
    names: ['blocks'],
    needs: 'report',
    plan: 'premium',
    apply: (situation, argument) => link(situation, argument, 'blocks', 'blocking'),
  },
  {
    names: ['blocked_by'],
    needs: 'report',
    plan: 'premium',
    apply: (situation, argument) => link(situation, argument, 'is_blocked_by', 'blocked by'),
  },
  {
    names: ['unlink'],
    needs: 'report',
    existing: true,
    apply: async (situation, argument) => {
      const [other] = await namedIssues(situation, argument);
      const { unlink } = situation.operations;
      if (!other || !unlink) return undefined;
      return async () => ((await unlink(other.id)) ? `Removed the link to ${other.reference}.` : undefined);
    },
  },
  {
    names: ['duplicate'],
    needs: 'plan',
    existing: true,
    apply: async (situation, argument) => {
      const [canonical] = await namedIssues(situation, argument);
      const { markDuplicate, link: relate } = situation.operations;
      if (!canonical || !markDuplicate) return undefined;
      return async () => {
        if (!(await markDuplicate(canonical.id))) return undefined;
        // Issues that are linked already or cannot be linked are skipped.
        await relate?.([canonical.id], 'relates_to');
        situation.commands_changes.canonical_issue_id = canonical.id;
        return `Closed this issue. Marked as related to, and a duplicate of, ${canonical.reference}.`;
      };
    },
  },
];

/** The project with this path, if the caller may see it. */
async function projectNamed({ tx, caller }: Situation, path: string) {
  const project = await projectFor(tx, caller, path);
  return project && mayRead(caller, project) ? project : undefined;
}

export const placeCommands: readonly Definition[] = [
  {
    names: ['move'],
    needs: 'plan',
    existing: true,
    apply: async (situation, argument) => {
      const target = argument === '' ? undefined : await projectNamed(situation, argument);
      const { move } = situation.operations;
      if (!target || !move) return undefined;
      return async () => {
        if (!(await move(target.id))) return undefined;
        situation.commands_changes.target_project = target.full_path;
        return `Moved this issue to ${target.full_path}.`;
      };
    },
  },
  {
    names: ['clone'],
    needs: 'plan',
    existing: true,
    apply: async (situation, argument) => {
      const [, path = '', flag] = /^(\S*?)\s*(--with_notes)?$/.exec(argument) ?? [];
      const target = path === '' ? projectOf(situation) : await projectNamed(situation, path);
      const { clone } = situation.operations;
      if (!target || !clone || (argument !== '' && path === '' && flag === undefined)) return undefined;
      return async () => {
        if (!(await clone(target.id, { with_notes: flag !== undefined }))) return undefined;
        situation.commands_changes.target_clone_project = target.full_path;
        return `Cloned this issue to ${target.full_path}.`;
      };
    },
  },
];

export const metadataCommands: readonly Definition[] = [
  { names: ['copy_metadata'], needs: 'plan', apply: copyMetadata },
];

/** Copies the milestone of an issue or merge request, and the labels that are available to the target. */
async function copyMetadata(situation: Situation, argument: string): Promise<string | undefined> {
  const { tx, changes, commands_changes } = situation;
  const source = await namedSource(situation, argument);
  if (!source) return undefined;
  const titles = (await labelsOf(tx, source.kind, source.id)).map(({ title }) => title);
  const { rows } = await sql<{ milestone_id: number | null }>`
    select milestone_id from ${sql.table(source.kind.table)} where id = ${source.id}`.execute(tx);
  const { milestone_id } = rows[0]!;
  changes.add_labels = [...new Set([...(changes.add_labels ?? []), ...titles])];
  if (milestone_id !== null) changes.milestone_id = milestone_id;
  Object.assign(commands_changes, { add_labels: titles, ...(milestone_id === null ? {} : { milestone_id }) });
  return `Copied labels and milestone from ${source.reference}.`;
}

/** The texts that differ between an issue in an epic and an epic with a parent. */
interface ParentTexts {
  attribute: 'epic_id' | 'parent_id';
  added: string;
  removed: string;
}
const epicOfIssue: ParentTexts = {
  attribute: 'epic_id',
  added: 'Added an issue to an epic.',
  removed: 'Removed an issue from an epic.',
};
const parentOfEpic: ParentTexts = {
  attribute: 'parent_id',
  added: 'Set the parent epic.',
  removed: 'Removed the parent epic.',
};

function setParent(
  { changes, commands_changes }: Situation,
  attribute: ParentTexts['attribute'],
  id: number | null,
): void {
  changes[attribute] = id;
  commands_changes[attribute] = id;
}

const addTo =
  ({ attribute, added }: ParentTexts): Definition['apply'] =>
  async (situation, argument) => {
    const parent = await namedEpic(situation, argument);
    if (!parent) return undefined;
    setParent(situation, attribute, parent.id);
    return added;
  };

const removeFrom =
  ({ attribute, removed }: ParentTexts): Definition['apply'] =>
  (situation) => {
    const changed = situation.changes[attribute];
    if ((changed === undefined ? situation.before.parent_id : changed) === null) return undefined;
    setParent(situation, attribute, null);
    return removed;
  };

const child =
  (isChild: boolean): Definition['apply'] =>
  async (situation, argument) => {
    const other = await namedEpic(situation, argument);
    const { setChild } = situation.operations;
    if (!other || !setChild) return undefined;
    return async () =>
      (await setChild(other.id, isChild)) ? `${isChild ? 'Added' : 'Removed'} ${argument} as child epic.` : undefined;
  };

function promoteToEpic({ operations }: Situation) {
  const { promoteToEpic: promote } = operations;
  return promote && (async () => ((await promote()) ? 'Promoted issue to an epic.' : undefined));
}

export const promotionCommands: readonly Definition[] = [
  { names: ['promote'], needs: 'plan', plan: 'premium', existing: true, apply: promoteToEpic },
  {
    names: ['promote_to'],
    needs: 'plan',
    apply: (situation, argument) => {
      const kind = argument.toLowerCase();
      if (kind === 'incident' && has(situation, 'report')) return promoteToIncident(situation);
      return kind === 'epic' && situation.plan !== 'free' && !situation.is_new ? promoteToEpic(situation) : undefined;
    },
  },
];

/** Commands for items that can be in an epic. */
export const inEpicCommands: readonly Definition[] = [
  { names: ['epic', 'set_parent'], needs: 'plan', plan: 'premium', apply: addTo(epicOfIssue) },
  { names: ['remove_epic', 'remove_parent'], needs: 'plan', plan: 'premium', apply: removeFrom(epicOfIssue) },
];

/** Commands for the parents and children of epics. */
export const epicTreeCommands: readonly Definition[] = [
  { names: ['parent_epic', 'set_parent'], needs: 'plan', plan: 'ultimate', apply: addTo(parentOfEpic) },
  { names: ['remove_parent_epic', 'remove_parent'], needs: 'plan', plan: 'ultimate', apply: removeFrom(parentOfEpic) },
  { names: ['child_epic'], needs: 'plan', plan: 'ultimate', existing: true, apply: child(true) },
  { names: ['remove_child_epic'], needs: 'plan', plan: 'ultimate', existing: true, apply: child(false) },
];

export const relationCommands: readonly Definition[] = [
  ...linkCommands,
  ...placeCommands,
  ...metadataCommands,
  ...promotionCommands,
  ...inEpicCommands,
  ...epicTreeCommands,
];
