/** The choices in the forms of issues and merge requests. */
import { controlsOf } from '../../../fields/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import { type Content, type Field, face, html, label as labelMark, type PageCall } from '../../../pages/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { GroupLabel, ProjectLabel } from '../../planning/labels/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';

/** The maximum number of offered choices; values already chosen are always offered. */
const maximumChoices = 100;

interface Person {
  id: number;
  name: string;
  username: string;
  avatar_url?: string | null;
}

interface LabelChoice {
  name: string;
  color?: string | undefined;
}

/** The values chosen so far. */
interface Chosen {
  people: readonly Person[];
  labels: readonly string[];
  milestone: { id: number; title: string } | null;
}

export interface Choices {
  people: readonly Person[];
  labels: readonly LabelChoice[];
  milestones: readonly { id: number; title: string }[];
}

type Reads = Pick<PageCall, 'list' | 'perhaps'>;

const uniqueBy = <T>(items: readonly T[], key: (item: T) => unknown): T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
];

/** The names of labels, in either form of replies. */
export const namesOf = (labels: readonly (string | { name: string })[]): string[] =>
  labels.map((each) => (typeof each === 'string' ? each : each.name));

/**
 * The people to choose from, first the chosen ones.
 * @param search a part of the names of the others
 */
export async function peopleChoices(
  { list, perhaps }: Reads,
  chosen: readonly Person[],
  search?: string,
): Promise<Choices['people']> {
  const found = await perhaps(
    list(UserBasic, 'listProjectUsers', { per_page: maximumChoices, ...(search && { search }) }),
  );
  return uniqueBy([...chosen, ...(found?.items ?? [])], ({ id }) => id);
}

/** The labels to choose from, as `peopleChoices`. */
async function labelChoices(
  { list, perhaps }: Reads,
  chosen: readonly string[],
  search?: string,
  kind: 'project' | 'group' = 'project',
): Promise<Choices['labels']> {
  const asked = { per_page: maximumChoices, ...(search && { search }) };
  const labels =
    kind === 'project' ? list(ProjectLabel, 'listProjectLabels', asked) : list(GroupLabel, 'listGroupLabels', asked);
  const found = await perhaps<ListPage<LabelChoice>>(labels);
  const known = new Map((found?.items ?? []).map(({ name, color }) => [name, { name, color }]));
  return uniqueBy([...chosen.map((name) => known.get(name) ?? { name }), ...known.values()], ({ name }) => name);
}

/** The milestones to choose from, as `peopleChoices`. */
async function milestoneChoices(
  { list, perhaps }: Reads,
  chosen: Chosen['milestone'],
  search?: string,
): Promise<Choices['milestones']> {
  const asked = { per_page: maximumChoices, state: 'active', include_ancestors: true, ...(search && { search }) };
  const found = await perhaps(list(Milestone, 'listProjectMilestones', asked));
  return uniqueBy([...(chosen ? [chosen] : []), ...(found?.items ?? [])], ({ id }) => id);
}

/** The people, labels and milestones of a project. */
export async function choicesOf(call: Reads, chosen: Chosen): Promise<Choices> {
  const [people, labels, milestones] = await Promise.all([
    peopleChoices(call, chosen.people),
    labelChoices(call, chosen.labels),
    milestoneChoices(call, chosen.milestone),
  ]);
  return { people, labels, milestones };
}

/** A field for choosing several people. */
export const peopleField = (
  name: string,
  label: string,
  { people }: Pick<Choices, 'people'>,
  chosen: readonly Person[],
): Field => ({
  name,
  label,
  options: people.map((each) => ({
    value: each.id,
    label: `${each.name} (@${each.username})`,
    view: html`${face(each)} ${each.name} <span class="soft">@${each.username}</span>`,
  })),
  chosen: chosen.map(({ id }) => id),
  is_clearable: true,
  refused_as: [name.replace('_ids', 's')],
});

const labelMarkOf = ({ name, color }: LabelChoice): Content => labelMark(name, color);

/** A field for choosing labels. */
const labelsField = ({ labels }: Pick<Choices, 'labels'>, chosen: readonly string[]): Field => ({
  name: 'labels',
  label: 'Labels',
  options: labels.map((each) => ({ value: each.name, label: each.name, view: labelMarkOf(each) })),
  chosen,
  is_clearable: true,
});

const newLabelsField: Field = { name: 'add_labels', label: 'New labels', help: 'Separated by commas.' };

/** A field for choosing the milestone. */
const milestoneField = ({ milestones }: Pick<Choices, 'milestones'>, chosen: Chosen['milestone']): Field => ({
  name: 'milestone_id',
  label: 'Milestone',
  kind: 'select',
  value: chosen?.id ?? 0,
  options: [{ value: 0, label: 'None' }, ...milestones.map(({ id, title }) => ({ value: id, label: title }))],
});

/** The fields for labels and the milestone. */
export const planningFields = (choices: Choices, chosen: Pick<Chosen, 'labels' | 'milestone'>): readonly Field[] => [
  labelsField(choices, chosen.labels),
  newLabelsField,
  milestoneField(choices, chosen.milestone),
];

/** Fields with a list of which several can be chosen, as boxes to tick. */
export const asBoxes = (fields: readonly Field[]): readonly Field[] =>
  fields.map((field) => (field.chosen ? { ...field, kind: 'checkboxes' } : field));

/** The properties that issues and merge requests share. */
interface Item {
  assignees: readonly Person[];
  labels: readonly (string | { name: string })[];
  milestone: Chosen['milestone'];
}

/** The controls for the labels of an item of a project or group. */
export const labelControls = async (
  call: Reads,
  { labels }: Pick<Item, 'labels'>,
  search?: string,
  kind: 'project' | 'group' = 'project',
): Promise<readonly Field[]> => [
  ...asBoxes([labelsField({ labels: await labelChoices(call, namesOf(labels), search, kind) }, namesOf(labels))]),
  newLabelsField,
];

type FieldsReader = (call: Reads, item: Item, search?: string) => Promise<readonly Field[]>;

const readers: Readonly<Record<string, FieldsReader>> = {
  assignees: async (call, { assignees }, search) =>
    asBoxes([
      peopleField('assignee_ids', 'Assignees', { people: await peopleChoices(call, assignees, search) }, assignees),
    ]),
  labels: (call, item, search) => labelControls(call, item, search),
  milestone: async (call, { milestone }, search) => [
    milestoneField({ milestones: await milestoneChoices(call, milestone, search) }, milestone),
  ],
};

/** Reads the controls of a property that issues and merge requests share; undefined for other properties. */
export const commonReaders = (property: string): FieldsReader | undefined =>
  Object.hasOwn(readers, property) ? readers[property] : undefined;

/** The controls of fields as forms group them: texts, which come first, flags, which come last, and the others. */
export function groupedControls(
  ...[fields, edited]: Parameters<typeof controlsOf>
): Record<'texts' | 'others' | 'flags', readonly Field[]> {
  const groupOf = ({ kind = 'text' }: Field) =>
    kind === 'checkbox' ? 'flags' : kind === 'text' || kind === 'markdown' ? 'texts' : 'others';
  return { texts: [], others: [], flags: [], ...Object.groupBy(controlsOf(fields, edited), groupOf) };
}
