/** How email addresses appear in responses. */
import { Type } from 'typebox';
import { columnsOf } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';

export const Email = resource('Email', {
  id: Id,
  email: Type.String(),
  confirmed_at: nullable(Timestamp),
  refused_at: {
    ...nullable(Timestamp),
    description: 'When a mail server refused it for good: no notifications are sent there until it is confirmed again',
  },
});
export const emailColumns = columnsOf(Email);
