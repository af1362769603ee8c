/** The choices in the forms of issues and merge requests. */
import { controlsOf } from '../../../fields/index.ts';
import type { Field, PageCall } from '../../../pages/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { ProjectLabel } from '../../planning/labels/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';

/** The maximum number of offered choices; values already chosen are always offered. */
const maximumChoices = 100;

interface Person {
  id: number;
  name: string;
  username: string;
}

/** The values chosen so far. */
interface Chosen {
  people: readonly Person[];
  labels: readonly string[];
  milestone: { id: number; title: string } | null;
}

export interface Choices {
  people: readonly Person[];
  labels: readonly string[];
  milestones: readonly { id: number; title: string }[];
}

const uniqueBy = <T>(items: readonly T[], key: (item: T) => unknown): T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
];

/** The names of labels, in either form of replies. */
export const namesOf = (labels: readonly (string | { name: string })[]): string[] =>
  labels.map((each) => (typeof each === 'string' ? each : each.name));

/** The people, labels and milestones of a project. */
export async function choicesOf({ list, perhaps }: PageCall, chosen: Chosen): Promise<Choices> {
  const paging = { per_page: maximumChoices };
  const [people, labels, milestones] = await Promise.all([
    perhaps(list(UserBasic, 'listProjectUsers', paging)),
    perhaps(list(ProjectLabel, 'listProjectLabels', paging)),
    perhaps(list(Milestone, 'listProjectMilestones', { ...paging, state: 'active', include_ancestors: true })),
  ]);
  return {
    people: uniqueBy([...chosen.people, ...(people?.items ?? [])], ({ id }) => id),
    labels: [...new Set([...chosen.labels, ...(labels?.items ?? []).map(({ name }) => name)])],
    milestones: uniqueBy(
      [...(chosen.milestone ? [chosen.milestone] : []), ...(milestones?.items ?? [])],
      ({ id }) => id,
    ),
  };
}

/** A field for choosing several people. */
export const peopleField = (name: string, label: string, { people }: Choices, chosen: readonly Person[]): Field => ({
  name,
  label,
  options: people.map(({ id, name, username }) => ({ value: id, label: `${name} (@${username})` })),
  chosen: chosen.map(({ id }) => id),
  is_clearable: true,
  refused_as: [name.replace('_ids', 's')],
});

/** The fields for labels and the milestone. */
export const planningFields = (
  { labels, milestones }: Choices,
  chosen: Pick<Chosen, 'labels' | 'milestone'>,
): readonly Field[] => [
  {
    name: 'labels',
    label: 'Labels',
    options: labels.map((value) => ({ value, label: value })),
    chosen: chosen.labels,
    is_clearable: true,
  },
  { name: 'add_labels', label: 'New labels', help: 'Separated by commas.' },
  {
    name: 'milestone_id',
    label: 'Milestone',
    kind: 'select',
    value: chosen.milestone?.id ?? 0,
    options: [{ value: 0, label: 'None' }, ...milestones.map(({ id, title }) => ({ value: id, label: title }))],
  },
];

/** The controls of fields as forms group them: texts, which come first, flags, which come last, and the others. */
export function groupedControls(
  ...[fields, edited]: Parameters<typeof controlsOf>
): Record<'texts' | 'others' | 'flags', readonly Field[]> {
  const groupOf = ({ kind = 'text' }: Field) =>
    kind === 'checkbox' ? 'flags' : kind === 'text' || kind === 'area' ? 'texts' : 'others';
  return { texts: [], others: [], flags: [], ...Object.groupBy(controlsOf(fields, edited), groupOf) };
}
