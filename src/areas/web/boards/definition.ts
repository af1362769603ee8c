/** What the pages of boards share: they are the same for a project and for a group. */
import type { Static } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import type { BoardList } from '../../work/boards/index.ts';

export type Kind = 'project' | 'group';

export const boardPaths = { project: '/:id/-/boards', group: '/groups/:id/-/boards' } as const;

/** The address of a board. @param rest `edit`, if it is that of its settings */
export const boardAddress = {
  project: pagePath('/:project/-/boards/:board_id'),
  group: pagePath('/groups/:group/-/boards/:board_id'),
} as const;

export type ShownList = Static<typeof BoardList>;

/** What a list stands for, in words. */
export const titleOfList = ({ label, assignee, milestone, iteration }: ShownList): string =>
  label?.name ??
  assignee?.name ??
  milestone?.title ??
  iteration?.title ??
  `${iteration?.start_date} – ${iteration?.due_date}`;
