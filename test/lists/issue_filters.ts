/** The filters of lists of issues. */
import type { Random } from '../support/random.ts';
import { type Asker, both, confidentialFilters, type Filter, on, searchesIn, stateFilters } from './filters.ts';
import { milestoneFilters, peopleFilters, scopeFilters } from './people_filters.ts';
import { epicsSeen } from './places.ts';
import { dayFromNow, type Milestone, milestoneTitles } from './plans.ts';
import type { Row } from './rows.ts';
import type { ListWorld } from './world.ts';

/** Whether a milestone is the next one of its project or group to end after today. */
function isUpcoming(milestone: Milestone, { plans }: ListWorld): boolean {
  const [next] = [...plans.milestones.values()]
    .flat()
    .filter(
      ({ owner, state, due_date }) =>
        owner === milestone.owner && state === 'active' && due_date !== null && due_date > dayFromNow(0),
    )
    .toSorted((a, b) => a.due_date!.localeCompare(b.due_date!) || a.id - b.id);
  return next === milestone;
}

const hasStarted = ({ state, start_date }: Milestone) =>
  state === 'active' && start_date !== null && start_date <= dayFromNow(0);

function milestoneWords(lists: ListWorld): Filter[] {
  const words: [string, (milestone: Milestone) => boolean][] = [
    ['Upcoming', (milestone) => isUpcoming(milestone, lists)],
    ['Started', hasStarted],
  ];
  return [
    ...both('milestone', { milestone_id: 'None' }, ({ milestone }) => milestone === null),
    ...both('milestone', { milestone_id: 'Any' }, ({ milestone }) => milestone !== null),
    ...words.flatMap(([milestone_id, isSuch]) =>
      both(
        'milestone',
        { milestone_id },
        ({ milestone }) => milestone !== null && isSuch(milestone),
        ({ milestone }) => milestone !== null && !isSuch(milestone),
      ),
    ),
  ];
}

function dueDateFilters(): Filter[] {
  const today = dayFromNow(0);
  const [year, month] = today.split('-').map(Number) as [number, number];
  const monthAfter = (count: number) => new Date(Date.UTC(year, month - 1 + count, 1)).toISOString().slice(0, 7);
  const monday = dayFromNow(-((new Date().getUTCDay() + 6) % 7));
  const sunday = dayFromNow((7 - new Date().getUTCDay()) % 7);
  const days: [string, (day: string) => boolean][] = [
    ['any', () => true],
    ['today', (day) => day === today],
    ['tomorrow', (day) => day === dayFromNow(1)],
    ['overdue', (day) => day < today],
    ['week', (day) => day >= monday && day <= sunday],
    ['month', (day) => day.startsWith(monthAfter(0))],
    ['next_month_and_previous_two_weeks', (day) => day >= dayFromNow(-14) && day.slice(0, 7) <= monthAfter(1)],
  ];
  return [
    on('due date', { due_date: '0' }, ({ due_date }) => due_date === null),
    on('due date', { due_date: '' }, () => true),
    ...days.map(([name, isSo]) =>
      on('due date', { due_date: name }, ({ due_date }) => due_date !== null && isSo(due_date)),
    ),
  ];
}

function iterationFilters({ plans }: ListWorld): Filter[] {
  const [past, current] = plans.iterations;
  return [
    ...both('iteration', { iteration_id: past!.id }, ({ iteration }) => iteration === past),
    ...both('iteration', { iteration_id: 'Current' }, ({ iteration }) => iteration === current),
    ...both('iteration', { iteration_id: 'Any' }, ({ iteration }) => iteration !== null),
    ...both('iteration', { iteration_id: 'None' }, ({ iteration }) => iteration === null),
    ...both('iteration', { iteration_title: 'sprint' }, ({ iteration }) => iteration?.title === 'sprint'),
  ];
}

const healthFilters: Filter[] = [
  ...['on_track', 'at_risk'].map((status) =>
    on('health', { health_status: status }, ({ health_status }) => health_status === status),
  ),
  on('health', { health_status: 'Any' }, ({ health_status }) => health_status !== null),
  on('health', { health_status: 'none' }, ({ health_status }) => health_status === null),
];

const weightFilters = (weight: number): Filter[] => [
  ...both('weight', { weight }, (row) => row.weight === weight),
  ...both('weight', { weight: 'Any' }, (row) => row.weight !== null),
  ...both('weight', { weight: 'None' }, (row) => row.weight === null),
];

const isReadable = (epic: Row, { reader }: Asker) => {
  const seen = epicsSeen(reader, epic.place);
  return seen === 'all' || (seen === 'plain' && !epic.confidential);
};

function epicFilters({ rows }: ListWorld, random: Random): Filter[] {
  const { epic } = random.of(rows.issue.filter((row) => row.epic !== null));
  return [
    on('epic', { epic_id: epic!.id }, (row, asker) => row.epic === epic && isReadable(epic!, asker)),
    on('epic', { epic_id: 'Any' }, (row) => row.epic !== null),
    on('epic', { epic_id: 'None' }, (row) => row.epic === null),
  ];
}

const numberFilters = (rows: readonly Row[], random: Random): Filter[] => {
  const iids = [random.of(rows).iid, random.of(rows).iid, 3];
  return both('iids', { iids }, ({ iid }) => iids.includes(iid));
};

export function issueFilters(lists: ListWorld, random: Random): Filter[] {
  const { id } = random.of(lists.users);
  return [
    ...stateFilters(['opened', 'closed']),
    ...confidentialFilters,
    ...searchesIn,
    ...milestoneFilters(random.of(milestoneTitles)),
    ...milestoneWords(lists),
    ...numberFilters(lists.rows.issue, random),
    ...peopleFilters('assignee', ({ assignees }) => assignees, lists.users),
    ...scopeFilters({ created_by_me: ({ author_id }) => [author_id], 'assigned-to-me': ({ assignees }) => assignees }),
    ...iterationFilters(lists),
    ...weightFilters(random.below(4)),
    ...dueDateFilters(),
    ...healthFilters,
    ...epicFilters(lists, random),
    ...['issue', 'incident', 'task'].map((type) =>
      on('type', { issue_type: type }, ({ issue_type }) => issue_type === type),
    ),
    on('closed by', { closed_by_id: id }, ({ closed_by_id }) => closed_by_id === id),
  ];
}
