/** Pages of audit events. */
export { auditEventPages } from './pages.ts';
