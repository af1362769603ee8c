/** References to labels, milestones and iterations. */
export { moveReferences } from './actions.ts';
export { takePlanning } from './transfer_actions.ts';
