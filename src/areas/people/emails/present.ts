/** How email addresses appear in responses. */
import { Type } from 'typebox';
import { columnsOf } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';

export const Email = resource('Email', {
  id: Id,
  email: Type.String(),
  confirmed_at: nullable(Timestamp),
});
export const emailColumns = columnsOf(Email);
