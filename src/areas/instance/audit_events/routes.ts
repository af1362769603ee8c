/** Audit events: who did what (docs/reference/audit_events.md#reading). */
import { Type } from 'typebox';
import { admin, groupRole, levels, projectRole } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, get, Id, one, pageOf } from '../../../http/index.ts';
import { mapPage, paginate } from '../../../lists/index.ts';
import { type AuditFilters, auditEventsFor, auditFilters, entityFilters, entityIdNeedsType } from './filters.ts';
import { AuditEvent, auditEvent } from './present.ts';

const plan = 'premium';

type Entity = Pick<AuditFilters, 'entity_type' | 'entity_id'>;

const pageOfEvents = async (db: Database, given: AuditFilters, whose?: number) =>
  mapPage(await paginate(db, auditEventsFor(db, given, whose), given, { varies: true }), auditEvent);

/** @throws ApiError 404 */
async function eventOf(db: Database, id: number, entity: Partial<AuditFilters> = {}) {
  const query = auditEventsFor(db, entity as AuditFilters).where('id', '=', id);
  return auditEvent(found('Audit Event', await query.executeTakeFirst()));
}

const audit_event_id = Type.Integer({ minimum: 1 });

const ofGroup = (id: number): Entity => ({ entity_type: 'Group', entity_id: id });
const ofProject = (id: number): Entity => ({ entity_type: 'Project', entity_id: id });

const refusals = { 404: '404 Audit Event Not Found' };

export const auditEventRoutes = [
  get('/audit_events', {
    operation: 'listAuditEvents',
    summary: 'List the audit events of the server',
    access: admin,
    plan,
    input: { ...auditFilters, ...entityFilters },
    rules: [entityIdNeedsType],
    returns: pageOf(AuditEvent),
    handle: ({ db, input }) => pageOfEvents(db, input),
  }),
  get('/audit_events/:id', {
    operation: 'getAuditEvent',
    summary: 'Get an audit event of the server',
    access: admin,
    plan,
    input: { id: Id },
    returns: one(AuditEvent),
    refusals,
    handle: ({ db, input }) => eventOf(db, input.id),
  }),
  get('/groups/:id/audit_events', {
    operation: 'listGroupAuditEvents',
    summary: 'List the audit events of a group',
    description: 'Owners see all events of the group itself, Developers and Maintainers their own.',
    access: groupRole('developer'),
    plan,
    input: auditFilters,
    returns: pageOf(AuditEvent),
    handle: ({ db, caller, group, input }) =>
      pageOfEvents(db, { ...input, ...ofGroup(group.id) }, group.access_level < levels.owner ? caller.id : undefined),
  }),
  get('/groups/:id/audit_events/:audit_event_id', {
    operation: 'getGroupAuditEvent',
    summary: 'Get an audit event of a group',
    access: groupRole('owner'),
    plan,
    input: { audit_event_id },
    returns: one(AuditEvent),
    refusals,
    handle: ({ db, group, input }) => eventOf(db, input.audit_event_id, ofGroup(group.id)),
  }),
  get('/projects/:id/audit_events', {
    operation: 'listProjectAuditEvents',
    summary: 'List the audit events of a project',
    description: 'Maintainers and Owners see all events, Developers their own.',
    access: projectRole('developer'),
    plan,
    input: auditFilters,
    returns: pageOf(AuditEvent),
    handle: ({ db, caller, project, input }) =>
      pageOfEvents(
        db,
        { ...input, ...ofProject(project.id) },
        project.access_level < levels.maintainer ? caller.id : undefined,
      ),
  }),
  get('/projects/:id/audit_events/:audit_event_id', {
    operation: 'getProjectAuditEvent',
    summary: 'Get an audit event of a project',
    access: projectRole('maintainer'),
    plan,
    input: { audit_event_id },
    returns: one(AuditEvent),
    refusals,
    handle: ({ db, project, input }) => eventOf(db, input.audit_event_id, ofProject(project.id)),
  }),
];
