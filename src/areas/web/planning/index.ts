/** The pages of labels, milestones, iterations and epics. */
import { epicPages } from './epic_pages.ts';
import { iterationPages } from './iteration_pages.ts';
import { labelPages } from './label_pages.ts';
import { milestonePages } from './milestone_pages.ts';

export const planningPages = [...labelPages, ...milestonePages, ...iterationPages, ...epicPages];
