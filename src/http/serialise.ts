/**
 * Writes replies by their schema: only declared members leave, null stays null, and fields above the plan are left out. Compiled on first use, so that
 * hundreds of endpoints do not slow the start down.
 */
import type { TSchema } from 'typebox';
import type { Values } from './form.ts';
import { type Plan, reaches } from './plans.ts';
import { type Marked, marks } from './types.ts';

type Pick = (value: unknown, plan: Plan) => unknown;

interface Json extends Marked {
  type?: string;
  properties?: Record<string, Json>;
  items?: Json;
  anyOf?: Json[];
}

const asIs: Pick = (value) => value;

function objectPicker(properties: Record<string, Json>): Pick {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    pick: pickerOf(schema),
    needs: schema[marks]?.plan,
  }));
  return (value, plan) => {
    if (typeof value !== 'object' || value === null) return value;
    const picked: Values = {};
    for (const { name, pick, needs } of members) {
      const member = (value as Values)[name];
      if (member !== undefined && reaches(plan, needs)) picked[name] = pick === asIs ? member : pick(member, plan);
    }
    return picked;
  };
}

function pickerOf(schema: Json): Pick {
  if (schema.anyOf) {
    const shaped = schema.anyOf.filter((member) => member.type === 'object' || member.type === 'array');
    return shaped.length === 1 ? pickerOf(shaped[0]!) : asIs;
  }
  if (schema.type === 'object' && schema.properties) return objectPicker(schema.properties);
  if (schema.type === 'array' && schema.items) {
    const pick = pickerOf(schema.items);
    return pick === asIs ? asIs : (value, plan) => (Array.isArray(value) ? value.map((item) => pick(item, plan)) : value);
  }
  return asIs;
}

/**
 * Compiles the writer of a reply.
 * @returns a function from a value and the plan in force to JSON text
 */
export function serialiser(schema: TSchema): (value: unknown, plan: Plan) => string {
  let pick: Pick | undefined;
  return (value, plan) => {
    pick ??= pickerOf(schema as unknown as Json);
    return JSON.stringify(pick(value, plan));
  };
}
