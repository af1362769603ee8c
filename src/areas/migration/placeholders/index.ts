/** What other areas may use of placeholders. */
export { accountsOf, keepMemberships, peopleOf, type Source, type SourcePerson } from './actions.ts';
export { reassignPlaceholder, removeOrphanedPlaceholders } from './jobs.ts';
export { tellOfProposal } from './mail_jobs.ts';
export { PlaceholderProposal } from './proposal_routes.ts';
