/** The interface of placeholders to other districts. */
export { peopleOf } from './actions.ts';
export { reassignPlaceholder, removeOrphanedPlaceholders } from './jobs.ts';
export { tellOfProposal } from './mail_jobs.ts';
export { PlaceholderProposal } from './proposal_routes.ts';
