/** The interface of streaming destinations of audit events to other districts. */
export { leaveTopLevel } from './actions.ts';
export { auditEventKind } from './present.ts';
export { streamingDestinationRoutes } from './routes.ts';
