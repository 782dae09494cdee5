/** The casts are safe because the names do not change. */
export const mapMembers = <Name extends string, Value, Mapped>(
  members: Readonly<Record<Name, Value>>,
  map: (value: Value, name: Name) => Mapped,
): Record<Name, Mapped> =>
  Object.fromEntries(
    Object.entries<Value>(members).map(([name, value]) => [name, map(value, name as Name)]),
  ) as Record<Name, Mapped>;
