/** Commands on what an issue or epic has to do with others, and on where it is. */
import { mayRead, projectFor } from '../../../access/index.ts';
import { labelsByIssue } from '../../planning/labels/index.ts';
import { type Definition, listed } from './definition.ts';
import { type NamedIssue, namedEpic, namedIssues } from './queries.ts';
import { has, projectOf, type Situation } from './situation.ts';
import { promoteToIncident } from './tracking_commands.ts';

const issue = ['issue'] as const;
const epic = ['epic'] as const;

const namesOf = (issues: readonly NamedIssue[]) => listed.format(issues.map(({ reference }) => reference));

type LinkType = 'relates_to' | 'blocks' | 'is_blocked_by';

/** Links are made when everything else is in order. */
async function link(situation: Situation, argument: string, type: LinkType, say: (names: string) => string) {
  const issues = await namedIssues(situation, argument);
  const { operations } = situation;
  if (issues.length === 0 || !operations.link) return undefined;
  return async () => {
    const ids = issues.map(({ id }) => id);
    return (await operations.link!(ids, type)) ? say(namesOf(issues)) : undefined;
  };
}

const linkCommands: readonly Definition[] = [
  {
    names: ['relate'],
    on: issue,
    needs: 'report',
    apply: (situation, argument) =>
      link(situation, argument, 'relates_to', (names) => `Marked this issue as related to ${names}.`),
  },
  {
    names: ['blocks'],
    on: issue,
    needs: 'report',
    plan: 'premium',
    apply: (situation, argument) => link(situation, argument, 'blocks', (names) => `Marked this issue as blocking ${names}.`),
  },
  {
    names: ['blocked_by'],
    on: issue,
    needs: 'report',
    plan: 'premium',
    apply: (situation, argument) =>
      link(situation, argument, 'is_blocked_by', (names) => `Marked this issue as blocked by ${names}.`),
  },
  {
    names: ['unlink'],
    on: issue,
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
    on: issue,
    needs: 'plan',
    existing: true,
    apply: async (situation, argument) => {
      const [canonical] = await namedIssues(situation, argument);
      const { markDuplicate, link: relate } = situation.operations;
      if (!canonical || !markDuplicate) return undefined;
      return async () => {
        if (!(await markDuplicate(canonical.id))) return undefined;
        // That they are linked already, or that the other may not be, does not matter.
        await relate?.([canonical.id], 'relates_to');
        situation.commands_changes.canonical_issue_id = canonical.id;
        return `Closed this issue. Marked as related to, and a duplicate of, ${canonical.reference}.`;
      };
    },
  },
];

/** The project of a path, if the caller may know of it. */
async function projectNamed({ tx, caller }: Situation, path: string) {
  const project = await projectFor(tx, caller, path);
  return project && mayRead(caller, project) ? project : undefined;
}

const placeCommands: readonly Definition[] = [
  {
    names: ['move'],
    on: issue,
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
    on: issue,
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
  {
    names: ['copy_metadata'],
    on: issue,
    needs: 'plan',
    apply: copyMetadata,
  },
];

/** Takes over the labels of another issue that this one may bear, and its milestone. */
async function copyMetadata(situation: Situation, argument: string): Promise<string | undefined> {
  const { tx, changes, commands_changes } = situation;
  const [source] = await namedIssues(situation, argument);
  if (!source) return undefined;
  const titles = ((await labelsByIssue(tx, [source.id])).get(source.id) ?? []).map(({ title }) => title);
  const { milestone_id } = await tx
    .selectFrom('issues')
    .select('milestone_id')
    .where('id', '=', source.id)
    .executeTakeFirstOrThrow();
  changes.add_labels = [...new Set([...(changes.add_labels ?? []), ...titles])];
  if (milestone_id !== null) changes.milestone_id = milestone_id;
  Object.assign(commands_changes, { add_labels: titles, ...(milestone_id === null ? {} : { milestone_id }) });
  return `Copied labels and milestone from ${source.reference}.`;
}

function setParent({ kind, changes, commands_changes }: Situation, id: number | null): void {
  if (kind === 'issue') changes.epic_id = id;
  else changes.parent_id = id;
  commands_changes[kind === 'issue' ? 'epic_id' : 'parent_id'] = id;
}

const parentAfter = ({ kind, before, changes }: Situation) => {
  const changed = kind === 'issue' ? changes.epic_id : changes.parent_id;
  return changed === undefined ? before.parent_id : changed;
};

const addToParent = async (situation: Situation, argument: string) => {
  const parent = await namedEpic(situation, argument);
  if (!parent) return undefined;
  setParent(situation, parent.id);
  return situation.kind === 'issue' ? 'Added an issue to an epic.' : 'Set the parent epic.';
};

const removeFromParent = (situation: Situation) => {
  if (parentAfter(situation) === null) return undefined;
  setParent(situation, null);
  return situation.kind === 'issue' ? 'Removed an issue from an epic.' : 'Removed the parent epic.';
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

const promotionCommands: readonly Definition[] = [
  { names: ['promote'], on: issue, needs: 'plan', plan: 'premium', existing: true, apply: promoteToEpic },
  {
    names: ['promote_to'],
    on: issue,
    needs: 'plan',
    apply: (situation, argument) => {
      const kind = argument.toLowerCase();
      if (kind === 'incident' && has(situation, 'report')) return promoteToIncident(situation);
      return kind === 'epic' && situation.plan !== 'free' && !situation.is_new ? promoteToEpic(situation) : undefined;
    },
  },
];

const epicCommands: readonly Definition[] = [
  { names: ['epic', 'set_parent'], on: issue, needs: 'plan', plan: 'premium', apply: addToParent },
  { names: ['remove_epic', 'remove_parent'], on: issue, needs: 'plan', plan: 'premium', apply: removeFromParent },
  { names: ['parent_epic', 'set_parent'], on: epic, needs: 'plan', plan: 'ultimate', apply: addToParent },
  { names: ['remove_parent_epic', 'remove_parent'], on: epic, needs: 'plan', plan: 'ultimate', apply: removeFromParent },
  { names: ['child_epic'], on: epic, needs: 'plan', plan: 'ultimate', existing: true, apply: child(true) },
  { names: ['remove_child_epic'], on: epic, needs: 'plan', plan: 'ultimate', existing: true, apply: child(false) },
];

export const relationCommands: readonly Definition[] = [...linkCommands, ...placeCommands, ...promotionCommands, ...epicCommands];
