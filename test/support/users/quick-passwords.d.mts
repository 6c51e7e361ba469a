export function dividePasswordCost(divisor: number): void;
