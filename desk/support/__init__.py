"""Helping companies with their webhooks: deliveries, shipments."""
