/** Pages of audit events. */
export { auditEventPages } from './pages.ts';
export { streamingPages } from './streaming_pages.ts';
