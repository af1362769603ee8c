/** The interface of audit events to other districts. */
export { audit } from './actions.ts';
export { type VerifiedChain, verifiedChains } from './chain_queries.ts';
export {
  type AuditedNoun,
  auditedNoun,
  eachMember,
} from './definition.ts';
export { keepAuditPartitions } from './jobs.ts';
export { logAuditEvents } from './log_actions.ts';
export { AuditEvent, type AuditRow, auditEvent } from './present.ts';
export { auditTriggers, tableList } from './trigger_rules.ts';
