/** References to labels, milestones and iterations. */
export { takePlanning } from './transfer_actions.ts';
