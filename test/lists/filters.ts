/** The filters that lists of several kinds have: parameters, and which rows they mean. */
import type { Random } from '../support/random.ts';
import type { Reader } from './places.ts';
import { moment, type Row } from './rows.ts';
import type { ListWorld } from './world.ts';

/** Who asks. */
export interface Asker {
  reader: Reader;
  /** Undefined for anonymous readers. */
  id: number | undefined;
}

export type Meaning = (row: Row, asker: Asker) => boolean;
type Parameters = Record<string, unknown>;

export interface Filter {
  /** Those of one topic are not combined, because they would exclude or replace each other. */
  topic: string;
  parameters: Parameters;
  means: Meaning;
}

export const on = (topic: string, parameters: Parameters, means: Meaning): Filter => ({ topic, parameters, means });

/** A filter and its opposite. */
export const both = (
  topic: string,
  parameters: Parameters,
  means: Meaning,
  others: Meaning = (...given) => !means(...given),
) => [on(topic, parameters, means), on(`not ${topic}`, { not: parameters }, others)];

const has = ({ labels }: Row, title: string) => labels.some((label) => label.title === title);
const hasAny = (row: Row, titles: string[]) => titles.some((title) => has(row, title));
/** Whether a row has a label of a scope, but of none below it. */
const isInScope = ({ labels }: Row, scope: string) =>
  labels.some(({ title }) => title.replace(/::[^:]*$/, '') === scope);
const text = ({ title, description }: Row) => `${title}\n${description ?? ''}`.toLowerCase();

const labelFilters = (title: string): Filter[] => [
  ...both('labels', { labels: title }, (row) => has(row, title)),
  ...both(
    'labels',
    { labels: `many,${title}` },
    (row) => has(row, title) && has(row, 'many'),
    (row) => !hasAny(row, ['many', title]),
  ),
  ...both('labels', { labels: 'urgent' }, (row) => has(row, 'urgent')),
  ...both('labels', { labels: ['level::*'] }, (row) => isInScope(row, 'level')),
  ...both(
    'labels',
    { labels: 'level::deep::*,bug' },
    (row) => isInScope(row, 'level::deep') && has(row, 'bug'),
    (row) => !isInScope(row, 'level::deep') && !has(row, 'bug'),
  ),
  ...both('labels', { labels: 'Any' }, ({ labels }) => labels.length > 0),
  ...both('labels', { labels: 'None' }, ({ labels }) => labels.length === 0),
  on('labels', { labels: 'No Label' }, ({ labels }) => labels.length === 0),
];

function authorFilters({ id, username }: { id: number; username: string }): Filter[] {
  return [
    ...both('author', { author_id: id }, ({ author_id }) => author_id === id),
    ...both('author', { author_username: username.toUpperCase() }, ({ author_id }) => author_id === id),
    ...both('author', { author_username: 'nobody' }, () => false),
  ];
}

/** A list of anonymous readers is not filtered by reactions, because they have none. */
export const reacted = ({ reactions }: Row, { id }: Asker, name?: string): boolean =>
  reactions.some((each) => each.user_id === id && (name === undefined || each.name === name));
const reactionFilters: Filter[] = [
  ...['thumbsup', 'rocket', 'unknown'].map((name) =>
    on('reaction', { my_reaction_emoji: name }, (row, asker) => asker.id === undefined || reacted(row, asker, name)),
  ),
  on('reaction', { my_reaction_emoji: 'Any' }, (row, asker) => asker.id === undefined || reacted(row, asker)),
  on('reaction', { my_reaction_emoji: 'none' }, (row, asker) => asker.id === undefined || !reacted(row, asker)),
];

const milliseconds = (at: string) => at.slice(0, 23);

const timeFilters = (at: string): Filter[] =>
  (['created', 'updated'] as const).flatMap((change) => [
    on(`${change} after`, { [`${change}_after`]: at }, (row) => milliseconds(row[`${change}_at`]) >= milliseconds(at)),
    on(
      `${change} before`,
      { [`${change}_before`]: at },
      (row) => milliseconds(row[`${change}_at`]) <= milliseconds(at),
    ),
  ]);

const searches: Filter[] = [
  on('search', { search: 'apple' }, (row) => text(row).includes('apple')),
  on('search', { search: 'ebr AND of' }, (row) => ['ebr', 'and', 'of'].every((word) => text(row).includes(word))),
  on('search', { search: '"apple pie" ox' }, (row) => ['apple pie', 'ox'].every((word) => text(row).includes(word))),
  on('search', { search: '50%' }, (row) => text(row).includes('50%')),
  on('search', { search: 'OX' }, (row) => text(row).includes('ox')),
  on('search', { search: ' ' }, () => true),
];
export const searchesIn: Filter[] = [
  on('search', { search: 'cherry', in: 'title' }, ({ title }) => title.includes('cherry')),
  on(
    'search',
    { search: 'CHERRY', in: 'description,x' },
    ({ description }) => description?.includes('cherry') ?? false,
  ),
  on('search', { search: 'cherry', in: 'author' }, (row) => text(row).includes('cherry')),
];

export const stateFilters = (states: readonly string[]): Filter[] => [
  ...states.map((state) => on('state', { state }, (row) => row.state === state)),
  on('state', { state: 'all' }, () => true),
];

export const confidentialFilters = [true, false].map((is) =>
  on('confidential', { confidential: is }, (row) => row.confidential === is),
);

export const sharedFilters = ({ users }: ListWorld, random: Random): Filter[] => [
  ...labelFilters(random.of(['bug', 'rare', 'level::high', 'level::deep::low', 'many', 'unknown'])),
  ...authorFilters(random.of(users)),
  ...reactionFilters,
  ...timeFilters(moment(random)),
  ...searches,
];
